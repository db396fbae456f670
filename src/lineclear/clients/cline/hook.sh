#!/bin/sh
# Made by `lineclear setup cline`: asks lineclear at Cline's @EVENT@. Without lineclear, Cline goes on.
@COMMAND@
