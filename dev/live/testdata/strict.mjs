// Runs OpenAI's strict transformer over a schema a line:
// strict.mjs OPENAI, which is the folder that the package is installed in.
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';

const { toStrictJsonSchema } = createRequire(process.argv[2] + '/')('openai/lib/transform');
for await (const line of createInterface({ input: process.stdin })) {
  let out;
  try {
    out = { schema: toStrictJsonSchema(JSON.parse(line)) };
  } catch (e) {
    out = { error: String(e) };
  }
  console.log(JSON.stringify(out));
}
