// Has the validators of the official TypeScript clients compile a schema a line:
// ajv.mjs V1 V2, which are the folders that the packages are installed in. An
// answer has the error of each version, "" for none.
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';

console.warn = console.error = () => {};
const v1 = createRequire(process.argv[2] + '/');
const v2 = createRequire(process.argv[3] + '/');
const makers = [
  v1('@modelcontextprotocol/sdk/validation/ajv-provider.js').AjvJsonSchemaValidator,
  v2('@modelcontextprotocol/client/validators/ajv').AjvJsonSchemaValidator,
];
const { ToolSchema } = v1('@modelcontextprotocol/sdk/types.js');
const shared = makers.map((Maker) => new Maker());

function error(f) {
  try {
    f();
    return '';
  } catch (e) {
    return String(e.message ?? e).slice(0, 200) || 'error';
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const schema = JSON.parse(line);
  const own = /"\$(id|anchor|dynamicAnchor)"/.test(line); // names are registered for good
  const errors = makers.map((Maker, i) =>
    error(() => {
      if (i === 0) ToolSchema.parse({ name: 'x', inputSchema: { type: 'object' }, outputSchema: schema });
      (own ? new Maker() : shared[i]).getValidator(schema);
    })
  );
  console.log(JSON.stringify(errors));
}
