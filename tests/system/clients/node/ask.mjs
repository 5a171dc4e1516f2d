// One call that an application makes with the Vercel AI SDK; standard input says which: {"of": "pc", "call": "chat", "url": …}.
// It prints one JSON line: {"said": …}, or {"raised": [the error and its causes, each with its status]}.

import { readFileSync } from "node:fs";
import { generateText, Output, streamText, tool } from "ai";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { z } from "zod";

const asked = JSON.parse(readFileSync(0, "utf8"));
globalThis.AI_SDK_LOG_WARNINGS = false;
const make = { pa: createAnthropic, pb: createGoogleGenerativeAI, pc: createOpenAI }[asked.of];
const model = make({ baseURL: asked.url, apiKey: asked.key })(asked.model);
const settings = { model, maxRetries: 1 };

const calls = {
  async chat() {
    return (await generateText({ ...settings, prompt: asked.text })).text;
  },
  async stream() {
    let failure;
    const stream = streamText({ ...settings, prompt: asked.text, onError: ({ error }) => { failure = error; } });
    let said = "";
    for await (const part of stream.textStream) said += part;
    if (failure) throw failure;
    return said;
  },
  async tool() {
    const inputSchema = z.object({ city: z.string() });
    const get_weather = tool({ description: "The weather of a city", inputSchema });
    const made = await generateText({ ...settings, prompt: asked.text, tools: { get_weather } });
    return made.toolCalls[0].toolName;
  },
  async structured() {
    const schema = z.object({ city: z.string(), days: z.number().int() });
    const made = await generateText({ ...settings, prompt: asked.text, output: Output.object({ schema }) });
    return made.output;
  },
};

function names(error) {
  const found = [];
  for (let each = error; each; each = each.lastError ?? each.cause) {
    found.push(`${each.name} ${each.statusCode ?? ""}`.trim());
  }
  return found;
}

try {
  console.log(JSON.stringify({ said: await calls[asked.call]() }));
} catch (error) {
  console.log(JSON.stringify({ raised: names(error) }));
}
