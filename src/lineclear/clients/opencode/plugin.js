// Made by `lineclear setup opencode`: asks lineclear (.git/lineclear/hook) before and after each tool.
// Without lineclear, or if it fails, opencode goes on as if this file did not exist.
import { spawnSync } from "node:child_process"

const find = @FIND@

function ask(event, call, directory) {
  const said = JSON.stringify({ cwd: directory, hook_event_name: event, ...call })
  const done = spawnSync("/bin/sh", ["-c", find.replaceAll("EVENT", event)], {
    cwd: directory,
    input: said,
    timeout: 10000,
    encoding: "utf8",
  })
  try {
    return JSON.parse(done.stdout).hookSpecificOutput ?? {}
  } catch {
    return {}
  }
}

function asked(args) {
  const path = args.filePath ?? args.path
  return { ...args, file_path: path, old_string: args.oldString, new_string: args.newString }
}

export const Lineclear = async ({ directory }) => {
  const told = new Map()
  return {
    "experimental.chat.system.transform": async (input, output) => {
      const session = input?.sessionID ?? ""
      if (!told.has(session)) {
        told.set(session, ask("SessionStart", { session_id: session }, directory).additionalContext ?? "")
      }
      if (told.get(session)) output.system.push(told.get(session))
    },
    "shell.env": async (input, output) => {
      if (input.sessionID) output.env.LINECLEAR_OPENCODE_SESSION = input.sessionID
    },
    "tool.execute.before": async (input, output) => {
      const call = { session_id: input.sessionID, tool_use_id: input.callID, tool_name: input.tool }
      const answer = ask("PreToolUse", { ...call, tool_input: asked(output.args ?? {}) }, directory)
      if (answer.permissionDecision === "deny") throw new Error(answer.permissionDecisionReason)
    },
    "tool.execute.after": async (input, output) => {
      const call = { session_id: input.sessionID, tool_use_id: input.callID, tool_name: input.tool }
      const args = asked(input.args ?? output.metadata?.args ?? {})
      const answer = ask("PostToolUse", { ...call, tool_input: args }, directory)
      if (!answer.additionalContext) return
      // The result of an MCP tool is a list of parts; opencode shows the model nothing else of it.
      if (Array.isArray(output.content)) output.content.push({ type: "text", text: answer.additionalContext })
      else output.output += "\n" + answer.additionalContext
    },
  }
}
