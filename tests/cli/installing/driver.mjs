// Plays OpenCode for one plugin file: `node driver.mjs PLUGIN 1|2|broken`; prints what the model would have seen.
import { pathToFileURL } from "node:url"

const module = await import(pathToFileURL(process.argv[2]).href)
const seen = []
const id = "ses_1"

async function first() {
  if (typeof module.default !== "object" || module.default.id !== "mem") throw new Error("no plugin")
  const hooks = await module.default.server({ directory: "/work/shop", worktree: "/work/shop" })
  if (module.Mem !== module.default.server) throw new Error("two plugins")
  const system = async (about = { sessionID: id }, base = "base") => {
    const output = { system: [base] }
    await hooks["experimental.chat.system.transform"](about, output)
    seen.push(output.system)
  }
  await system()
  const message = (text, messageID) =>
    hooks["chat.message"](
      { sessionID: id, messageID },
      { message: { id: messageID }, parts: [{ type: "text", text }, { type: "text", text: "no", synthetic: true }] },
    )
  await message("first prompt", "msg_1")
  await message("first prompt", "msg_1")
  await system()
  await system({})
  const failed = { title: "", output: "make: no rule", metadata: { exit: 2 } }
  await hooks["tool.execute.after"]({ tool: "bash", sessionID: id, callID: "c", args: { command: "make" } }, failed)
  const good = { title: "", output: "fine", metadata: { exit: 0 } }
  await hooks["tool.execute.after"]({ tool: "bash", sessionID: id, callID: "d", args: { command: "make" } }, good)
  seen.push([failed.output, good.output])
  const compacting = { context: [] }
  await hooks["experimental.session.compacting"]({ sessionID: id }, compacting)
  seen.push(compacting.context)
  await system({ sessionID: id }, "You are a title generator.")
  const compacted = { event: { type: "session.compacted", properties: { sessionID: id } } }
  await hooks.event(compacted)
  await system()
  await hooks.event(compacted)
  await message("second prompt", "msg_2")
  await system()
  await hooks.event({ event: { type: "session.idle", properties: { sessionID: id } } })
  await hooks.event({ event: { type: "session.updated", properties: {} } })
}

async function second() {
  const hooks = {}
  let push
  const queue = []
  const domain = (name) => ({
    hook: async (event, callback) => {
      hooks[`${name}.${event}`] = callback
      return { dispose: async () => {} }
    },
  })
  const ctx = {
    location: { directory: "/work/shop" },
    session: domain("session"),
    tool: domain("tool"),
    event: {
      async *subscribe() {
        for (;;) {
          while (queue.length) yield queue.shift()
          await new Promise((resolve) => (push = resolve))
        }
      },
    },
  }
  const cleanup = await module.default.setup(ctx)
  const system = async (kind) => {
    const event = { sessionID: id, kind, system: [{ type: "text", text: "base" }], messages: [] }
    await hooks["session.context"](event)
    if (event.system.some((part) => part.type !== "text")) throw new Error("no text")
    seen.push(event.system.map((part) => part.text))
  }
  await hooks["session.prompt"]({ sessionID: id, messageID: "msg_1", prompt: { text: "first prompt" } })
  await system("primary")
  await system("title")
  const failed = { tool: "bash", sessionID: id, id: "c", input: { command: "make" }, status: "error" }
  await hooks["tool.execute.after"](Object.freeze({ ...failed, error: Object.freeze({ message: "make: no rule" }) }))
  await hooks["tool.execute.after"]({ ...failed, status: "completed", result: {} })
  await system("primary")
  const compaction = { sessionID: id, kind: "compaction", system: [] }
  await hooks["session.compaction"](compaction)
  seen.push(compaction.system.map((part) => part.text))
  await hooks["session.prompt"]({ sessionID: id, messageID: "msg_2", prompt: { text: "second prompt" } })
  await system("primary")
  queue.push({ type: "session.execution.succeeded", data: { sessionID: id } }, { type: "other" })
  push?.()
  await new Promise((resolve) => setTimeout(resolve, 700))
  cleanup()
}

async function broken() {
  // Nothing is as it should be: no hook may throw, whatever it is given.
  const hooks = await module.Mem(undefined)
  for (const hook of Object.values(hooks)) for (const args of [[], [null, null], [{}, {}]]) await hook(...args)
  for (const ctx of [undefined, {}, { session: { hook: () => Promise.reject(new Error("no")) }, tool: {}, event: {} }]) {
    const cleanup = await module.default.setup(ctx)
    cleanup()
  }
  seen.push("still here")
}

await { 1: first, 2: second, broken }[process.argv[3]]()
console.log(JSON.stringify(seen))
process.exit(0)
