#!/bin/sh
# Made by `lineclear setup cline`: Cline's @EVENT@ asks lineclear; without lineclear Cline goes on.
@COMMAND@
