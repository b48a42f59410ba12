// acemem: written by `mem install opencode`, taken away by `mem uninstall opencode`.
// It hands each moment of a session to the memory's client and puts what that says in front of the model. Whatever goes
// wrong, OpenCode goes on as if the plugin were not there. For OpenCode 1 (`server`) and 2 (`setup`).
import { spawn } from "node:child_process"

const COMMAND = ["mem-hook"]
const HOME = []
const LIMIT = 2000 // milliseconds; the client has a shorter limit of its own
const SESSIONS = 200 // remembered at the same time
const OUTPUT = 20000 // characters of a failed tool's output that are passed on
const ASIDE = /^You are a (title|context summar)/ // models that OpenCode asks beside the work, with the same hook

/** What the memory says at a moment of a session; "" when it has nothing, is late, or is not there. */
function ask(event, payload) {
  return new Promise((resolve) => {
    let child
    const timer = setTimeout(() => {
      try {
        child?.kill()
      } catch {}
      resolve("")
    }, LIMIT)
    const finish = (text) => {
      clearTimeout(timer)
      resolve(text)
    }
    try {
      child = spawn(COMMAND[0], [...COMMAND.slice(1), "opencode", event, ...HOME], {
        stdio: ["pipe", "pipe", "ignore"],
        windowsHide: true,
      })
      const pieces = []
      child.on("error", () => finish(""))
      child.stdout.on("error", () => finish(""))
      child.stdout.on("data", (piece) => pieces.push(piece))
      child.on("close", () => finish(contextIn(Buffer.concat(pieces).toString("utf8"))))
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify({ hook_event_name: event, ...payload }))
    } catch {
      finish("")
    }
  })
}

function contextIn(printed) {
  try {
    const { context } = JSON.parse(printed)
    return typeof context === "string" ? context : ""
  } catch {
    return ""
  }
}

/** A hook that never throws: an exception in one fails what OpenCode was about to do. */
function safely(hook) {
  return async (...args) => {
    try {
      await hook(...args)
    } catch {}
  }
}

/** The sessions seen by one running OpenCode, and what each was told. */
class Sessions {
  constructor(folder) {
    this.folder = folder
    this.known = new Map()
    this.last = undefined
  }

  of(id) {
    this.last = id
    let session = this.known.get(id)
    if (!session) {
      session = { source: "startup", start: "", prompt: undefined, said: "", failures: [] }
      this.known.set(id, session)
      if (this.known.size > SESSIONS) this.known.delete(this.known.keys().next().value)
    }
    return session
  }

  ask(event, id, more) {
    return ask(event, { session_id: id, cwd: this.folder, ...more })
  }

  /** A prompt came in: it is asked about once, and what was said stands until the next one. */
  async prompted(id, text, turn) {
    const session = this.of(id)
    const prompt = `${turn ?? ""}\n${text}`
    if (!text.trim() || session.prompt === prompt) return
    session.prompt = prompt
    session.failures = []
    const asked = { prompt: text, turn_id: turn }
    const [, said] = await Promise.all([this.started(id), this.ask("prompt", id, asked)])
    session.said = said
  }

  /** What is told at the start, and again after a compaction, which may come in the middle of a turn. */
  async started(id) {
    const session = this.of(id)
    const source = session.source
    session.source = ""
    if (source) session.start = await this.ask("session-start", id, { source })
  }

  async failed(id, tool, input, error) {
    return this.ask("tool-failure", id, { tool_name: tool, tool_input: input, error: String(error).slice(0, OUTPUT) })
  }

  /** What belongs in front of the model now, always in the same order. */
  async texts(id) {
    const session = this.known.get(id ?? this.last)
    if (session?.source === "compact") await this.started(id ?? this.last)
    return session ? [session.start, session.said, ...session.failures].filter(Boolean) : []
  }

  /** After a compaction the model has forgotten what it was told at the start. */
  compacted(id) {
    this.of(id).source = "compact"
  }
}

/** OpenCode 1: a function that gives hooks, which change their second argument. */
export const Mem = async (input) => {
  const sessions = new Sessions(input?.directory)
  return {
    "chat.message": safely(async ({ sessionID, messageID }, { message, parts }) => {
      const written = (parts ?? []).filter((part) => part.type === "text" && !part.synthetic)
      await sessions.prompted(sessionID, written.map((part) => part.text).join("\n"), messageID ?? message?.id)
    }),
    "experimental.chat.system.transform": safely(async (about, { system }) => {
      if (!ASIDE.test(system[0])) system.push(...(await sessions.texts(about?.sessionID)))
    }),
    "tool.execute.after": safely(async ({ tool, sessionID, args }, output) => {
      const code = output?.metadata?.exit
      if (typeof code !== "number" || code === 0) return
      const text = await sessions.failed(sessionID, tool, args, `Exit code ${code}\n${output.output}`)
      if (text) output.output = `${output.output}\n\n${text}`
    }),
    "experimental.session.compacting": safely(async ({ sessionID }, output) => {
      const text = await sessions.ask("compacting", sessionID)
      if (text) output.context.push(text)
    }),
    event: safely(async ({ event }) => {
      const id = event?.properties?.sessionID
      if (event?.type === "session.idle") await sessions.ask("idle", id)
      if (event?.type === "session.compacted") sessions.compacted(id)
    }),
  }
}

/** OpenCode 2: hooks are registered one by one, and change their only argument. */
async function setup(ctx) {
  const sessions = new Sessions(ctx?.location?.directory)
  const register = safely(async (domain, name, hook) => {
    await ctx[domain].hook(name, safely(hook))
  })
  await register("session", "prompt", async (event) => {
    await sessions.prompted(event.sessionID, event.prompt.text ?? "", event.messageID)
  })
  await register("session", "context", async (event) => {
    if (event.kind && event.kind !== "primary") return
    event.system.push(...(await sessions.texts(event.sessionID)).map((text) => ({ type: "text", text })))
  })
  await register("session", "compaction", async (event) => {
    sessions.compacted(event.sessionID)
    const text = await sessions.ask("compacting", event.sessionID)
    if (text) event.system.push({ type: "text", text })
  })
  await register("tool", "execute.after", async (event) => {
    if (event.status !== "error") return
    const error = event.error?.message ?? JSON.stringify(event.error)
    const text = await sessions.failed(event.sessionID, event.tool, event.input, error)
    if (text) sessions.of(event.sessionID).failures.push(text) // the error itself is not ours to change
  })
  const stop = new AbortController()
  safely(async () => {
    for await (const event of ctx.event.subscribe({ signal: stop.signal })) {
      if (stop.signal.aborted) return
      if (/^session\.execution\.(succeeded|failed|interrupted)$/.test(event?.type)) {
        await sessions.ask("idle", (event.data ?? event.properties)?.sessionID)
      }
    }
  })()
  return () => stop.abort()
}

export default { id: "mem", server: Mem, setup }
