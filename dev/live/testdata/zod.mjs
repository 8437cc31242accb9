// Writes schemas of zod, a line each: as JSON Schema, with values that zod
// takes or refuses. zod.mjs ZOD, which is the folder that it is installed in.
import { createRequire } from 'node:module';

const { z } = createRequire(process.argv[2] + '/')('zod');

// What JSON Schema does not say of a schema: zod takes more, or takes less.
const more = new Set(), less = new Set();
const marked = (set, s) => (set.add(s), s);

const junk = [null, true, 0, -1, 1.5, 7, '', 'x', '5', [], ['x'], {}, { x: 1 }];
const text = ['hello', 'ab', 'abcdefghijkl', 'ABC', ' abc ', 'Ünïcödé'];
const numbers = [1, 2, 3, 4, 5, 10, 100, 0.5, -3.25, 2 ** 31, 2 ** 53 - 1, 2 ** 53, 1e21];
const formats = [
  'a.b@example.org', 'https://example.org/a?b=c', '2026-12-01', '2026-12-01T08:30:00Z', '2026-12-01T08:30:00.123Z',
  '2026-12-01T08:30:00+02:00', '08:30:00', '08:30', 'P1DT2H', 'P3W', '192.0.2.1', '2001:db8::1', '192.0.2.0/24', '2001:db8::/32',
  '00:1b:44:11:3a:b7', '01890a5d-ac96-774b-bcce-b302099a8057', '550e8400-e29b-41d4-a716-446655440000', 'example.org',
  'aGVsbG8=', 'aGVsbG8', '+4930123456', 'eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2ln', 'deadBEEF', 'V1StGXR8_Z5jdHi6B-myT', 'cjld2cjxh0000qzrmn831i7rn',
  'tz4a98xxat96iws9zmbrgj3a', '01ARZ3NDEKTSV4RRFFQ69G5FAV', '9m4e2mr0ui3e8a215n4g', '0ujsswThIGTUYm2K8FjOOfXtY1K', '😀', '\n',
];
const record = [{ a: 1 }, { a: 1, b: 2 }, { a: 1, b: 2, c: 3 }, { a: 'x' }, { '': 1 }, { 1: 1 }, { 'a b': 2, type: 3, $ref: 4 }, { A: 1 }];

// Leaves: name, schema, values to try besides junk.
const leaves = [
  ['string', z.string(), text], ['min', z.string().min(3), text], ['max', z.string().max(3), text], ['length', z.string().length(2), text],
  ['nonempty', z.string().nonempty(), text], ['regex', z.string().regex(/^[A-Z]+$/), text], ['lookahead', z.string().regex(/^(?!ab)[a-z]{2,}$/), text],
  ['two patterns', z.string().regex(/^a/).regex(/l$/), text], ['starts', z.string().startsWith('ab').endsWith('l').includes('fg'), text],
  ['uppercase', z.string().uppercase(), text], ['lowercase', z.string().lowercase().max(5), text], ['template', z.templateLiteral(['a-', z.number(), z.enum(['px', 'em'])]), ['a-1px', 'a-1.5em', 'a-px']],
  ['hex', z.hex(), formats], ['hash', z.hash('md5'), ['5d41402abc4b2a76b9719d911017c592', ...text]],
  ...['email', 'uuid', 'uuidv4', 'guid', 'hostname', 'ipv4', 'ipv6', 'cidrv4', 'cidrv6', 'mac', 'base64', 'base64url',
    'e164', 'nanoid', 'cuid', 'cuid2', 'ulid', 'xid', 'ksuid'].map(f => [f, z[f](), formats]),
  ['url', marked(less, z.url()), formats], ['httpUrl', marked(less, z.httpUrl()), formats], ['emoji', marked(less, z.emoji()), formats], ['jwt', marked(less, z.jwt()), formats],
  ['date', z.iso.date(), formats], ['time', z.iso.time(), formats], ['datetime', z.iso.datetime(), formats], ['duration', z.iso.duration(), formats],
  ['local datetime', z.iso.datetime({ offset: true, local: true }), formats],
  ['number', z.number(), numbers], ['int', z.int(), numbers], ['int32', z.int32(), numbers], ['uint32', z.uint32(), numbers], ['float32', z.float32(), numbers],
  ['int range', z.int().min(1).max(10), numbers], ['positive', z.number().positive(), numbers], ['below', z.number().lt(5).gte(-3.25), numbers],
  ['multiple', z.number().multipleOf(0.5), numbers], ['step', z.int().step(5).nonnegative(), [0, 5, 7]], ['boolean', z.boolean(), [false]],
  ['null', z.null(), []], ['any', z.any(), text], ['unknown', z.unknown(), record], ['json', z.json(), record],
  ['enum', z.enum(['open', 'closed', '']), ['open', 'OPEN', 'closed']], ['one', z.enum(['only']), ['only', 'ONLY']],
  ['number enum', z.nativeEnum({ A: 1, B: 2.5 }), numbers], ['mixed enum', z.nativeEnum({ A: 1, B: 'b', C: '1' }), ['b', '1', 1]],
  ['literal', z.literal('a'), ['a', 'A']], ['literal 7', z.literal(7), ['7', 7]], ['literal null', z.literal(null), []], ['literal true', z.literal(true), [false, 'true']],
  ['literals', z.literal(['a', 1, true, null]), ['a', 1, '1', 'true', 'null']], ['numbers', z.literal([1, 2, 3]), numbers],
  ['array', z.array(z.string()), [['a', 'b'], [1]]], ['bounds', z.array(z.int()).min(1).max(2), [[1], [1, 2], [1, 2, 3]]], ['lists', z.array(z.array(z.boolean())), [[[true], []], [true]]],
  ['tuple', z.tuple([z.string(), z.int()]), [['a', 1], ['a', 1, 2], [1, 'a']]], ['rest', z.tuple([z.string()], z.int()), [['a', 1, 2], ['a', 'b']]],
  ['optional in tuple', z.tuple([z.string(), z.int().optional()]), [['a', 1], ['a', null], ['a', 1, 2]]], ['empty tuple', z.tuple([]), [[1]]],
  ['record', z.record(z.string(), z.number()), record], ['enum record', z.record(z.enum(['a', 'b']), z.number()), record], ['partial', z.partialRecord(z.enum(['a', 'b']), z.number()), record],
  ['named', z.record(z.string().regex(/^[a-z]+$/), z.any()), record], ['records', z.record(z.string(), z.record(z.string(), z.boolean())), [{ a: { b: true } }, { a: {} }]],
  ['object', z.object({ a: z.number(), b: z.number().optional() }), record], ['strict', z.strictObject({ a: z.number() }), record], ['loose', z.looseObject({ a: z.number() }), record],
  ['catchall', z.object({ a: z.number() }).catchall(z.number()), record], ['empty', z.object({}), record], ['strictly empty', z.strictObject({}), record],
  ['odd names', z.object({ 'a b': z.number(), type: z.number().optional(), $ref: z.any(), 'x/y~z': z.string().optional(), ü: z.boolean().optional() }), [{ 'a b': 1, $ref: 1, ü: true }, ...record]],
  ['prototype', z.object({ constructor: z.string().optional(), required: z.array(z.string()).optional(), properties: z.any().optional() }), [{ constructor: 'a', required: ['b'] }, { required: 1 }]],
  ['partial object', z.object({ a: z.number(), b: z.string() }).partial(), record], ['pick', z.object({ a: z.number(), b: z.string() }).pick({ a: true }), record],
  ['union', z.union([z.string(), z.number()]), ['7', 7, 'true']], ['constrained union', z.union([z.string().min(2), z.int(), z.null()]), ['ab', '7', 7]],
  ['id', z.union([z.int(), z.string()]), ['7', 7, '7.5']], ['xor', z.xor([z.string(), z.array(z.string())]), [['a'], 'a']], ['one or many', z.union([z.string(), z.array(z.string())]), ['a', ['a'], '["a"]']],
  ['or list', z.union([z.boolean(), z.array(z.int()), z.object({ a: z.int() })]), [true, [1], { a: 1 }]],
  ['objects', z.union([z.object({ a: z.int() }), z.object({ b: z.string() })]), [{ a: 1 }, { b: 'x' }, { a: 'x' }]], ['same key', z.union([z.object({ a: z.int() }), z.object({ a: z.string(), b: z.int() })]), [{ a: 1 }, { a: 'x', b: 1 }, { a: 'x' }]],
  ['kinds', z.discriminatedUnion('k', [z.object({ k: z.literal('a'), x: z.int() }), z.strictObject({ y: z.string(), k: z.literal('b') })]), [{ k: 'a', x: 1 }, { k: 'b', y: 'z' }, { k: 'b', y: 'z', x: 1 }, { k: 'c' }, { k: 'a' }]],
  ['kinds of two', z.discriminatedUnion('k', [z.object({ k: z.enum(['a', 'b']), x: z.int() }), z.object({ k: z.literal(null), x: z.string() })]), [{ k: 'b', x: 1 }, { k: null, x: 'z' }, { k: null, x: 1 }]],
  ['intersection', z.intersection(z.object({ a: z.number() }), z.object({ b: z.number() })), record], ['extended', z.object({ a: z.number() }).extend({ a: z.int().max(1), b: z.number().optional() }), record],
  ['and', z.looseObject({ a: z.number() }).and(z.record(z.string(), z.number())), record],
  ['default', z.object({ a: z.string().default('x'), b: z.number().default(1) }), [{ a: 'y' }, { a: 1 }, { a: null }]], ['prefault', z.object({ a: z.string().prefault('x') }), [{ a: 'y' }]],
  ['exact', z.object({ a: z.exactOptional(z.string()) }), [{ a: 'y' }, { a: 1 }]], ['nullish', z.object({ a: z.string().nullish(), b: z.int().nullable() }), [{ b: null }, { a: null, b: 1 }, { a: 'x' }]],
  ['null default', z.object({ a: z.string().nullable().default(null), b: z.object({ c: z.int() }).nullable().optional() }), [{ a: null }, { a: 'x', b: { c: 1 } }, { b: { c: null } }]],
  ['nullable enum', z.enum(['F', 'C']).nullable(), ['F', 'f']], ['nullable object', z.object({ a: z.int().optional() }).nullable(), [{ a: 1 }, { a: null }]], ['nullable list', z.array(z.string().nullable()).nullable(), [[null, 'a'], [1]]],
  ['described', z.string().describe('The id_number (or name)').meta({ title: 'T', examples: ['a'], deprecated: true }), text], ['branded', z.string().brand('id'), text], ['readonly', z.array(z.int()).readonly(), [[1]]],
  ['registered', z.object({ a: z.string().meta({ id: 'thing' }), b: z.array(z.string().meta({ id: 'other' })) }), [{ a: 'x', b: ['y'] }, { a: 'x', b: [1] }]],
  ['refine', marked(less, z.string().refine(s => s.includes('l'))), text], ['refined object', marked(less, z.object({ a: z.number(), b: z.number().optional() }).refine(o => o.b === undefined || o.a < o.b)), record],
  ['super', marked(less, z.array(z.int()).superRefine((l, c) => new Set(l).size < l.length && c.addIssue('twice'))), [[1, 2], [1, 1]]], ['check', marked(less, z.string().check(c => c.value.length > 20 && c.issues.push({ code: 'custom', input: c.value }))), text],
  ['transform', z.string().transform(s => s.length), text], ['trim', marked(more, z.string().trim().max(3)), text], ['pipe', marked(less, z.string().pipe(z.enum(['ab', 'cd']))), text], ['lower', marked(more, z.string().toLowerCase().regex(/^[a-z]+$/)), text],
  ['coerce number', marked(more, z.coerce.number()), ['5', '']], ['coerce string', marked(more, z.coerce.string()), [5]], ['coerce boolean', marked(more, z.coerce.boolean()), ['true']],
  ['catch', marked(more, z.int().catch(1)), numbers], ['stringbool', marked(less, z.stringbool()), ['true', 'no', 'maybe']], ['preprocess', marked(more, z.preprocess(v => String(v), z.string())), text],
  ['nonoptional', z.object({ a: z.nonoptional(z.string().optional()) }), [{ a: 'x' }]], ['never', z.object({ a: z.never().optional(), b: z.int().optional() }), [{ b: 1 }, { a: 1 }]], ['lazy', z.lazy(() => z.object({ a: z.int() })), [{ a: 1 }]],
];

const Node = z.object({ v: z.string(), get kids() { return z.array(Node); } });
const Linked = z.object({ v: z.int(), get next() { return Linked.optional(); } });
const Expression = z.union([z.number(), z.object({ op: z.enum(['+', '*']), get left() { return Expression; }, get right() { return Expression; } })]);
const Even = z.object({ get odd() { return Odd.nullable(); } }), Odd = z.object({ even: Even.optional(), n: z.int() });
const Filter = z.discriminatedUnion('k', [z.object({ k: z.literal('is'), of: z.string() }), z.object({ k: z.literal('not'), get of() { return Filter; } })]);
const point = z.object({ x: z.number(), y: z.number() }).meta({ id: 'point' });
const trees = [{ v: 'a', kids: [] }, { v: 'a', kids: [{ v: 'b', kids: [] }] }, { v: 'a', kids: [{ v: 'b' }] }, { v: 1, next: { v: 2 } }, { v: 1, next: { v: 2, next: {} } }];

// Roots are what arguments are; all else is one of their properties.
const roots = [
  ['tree', Node, trees], ['list', Linked, trees], ['expression', z.object({ e: Expression }), [{ e: 1 }, { e: { op: '+', left: 1, right: { op: '*', left: 2, right: 3 } } }, { e: { op: '-', left: 1, right: 2 } }]],
  ['mutual', Even, [{ odd: null }, { odd: { n: 1, even: { odd: null } } }, { odd: { even: {} } }]], ['filter', Filter, [{ k: 'is', of: 'x' }, { k: 'not', of: { k: 'is', of: 'x' } }, { k: 'not', of: 'x' }]],
  ['filters', z.object({ f: z.array(Filter).optional() }), [{ f: [{ k: 'not', of: { k: 'is', of: 'x' } }] }, {}]], ['shared', z.object({ from: point, to: point.optional(), via: z.array(point).default([]) }), [{ from: { x: 1, y: 2 } }, { from: { x: 1, y: 2 }, via: [{ x: 1, y: 2 }] }, { from: { x: 1 } }]],
  ...leaves.filter(([, s]) => !more.has(s) && [{}, { a: 1 }, { k: 'a', x: 1 }].some(v => s.safeParse(v).success)).map(([name, s, values]) => ['root ' + name, s, values]),
];

// random gives the same numbers from 0 to 1 each time (mulberry32).
let state = 3;
function random() {
  let t = (state = (state + 0x6d2b79f5) | 0);
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}
const pick = list => list[Math.floor(random() * list.length)];

// some are values to go on with: most of them valid.
function some([s, values]) {
  const valid = values.filter(v => s.safeParse(v).success);
  return [s, [...valid.slice(0, 5), ...values.filter(v => !valid.includes(v)).slice(0, 2)]];
}

// composed puts schemas into each other: a schema, and values to try.
function composed(depth) {
  if (depth === 0) {
    const [, s, values] = pick(leaves.filter(([, s]) => !more.has(s) && !less.has(s)));
    return [s, [...values, pick(junk)]];
  }
  const [s, values] = some(composed(depth - 1));
  const [other, others] = some(composed(Math.floor(random() * depth)));
  return pick([
    () => [z.array(s).max(4), [[], [pick(values)], [pick(values), pick(values)], ...values]],
    () => [z.tuple([s, other]), [[pick(values), pick(others)], [pick(others), pick(values)], [pick(values)]]],
    () => [z.record(z.string(), s), [{}, { k: pick(values) }, { a: pick(values), 'b c': pick(values) }]],
    () => [z.union([s, other]), [...values, ...others]],
    () => [s.nullable(), [null, ...values]],
    () => [z.strictObject({ s: s.optional(), other }), values.flatMap(v => [{ s: v, other: pick(others) }, { other: v }, { s: v }])],
    () => [z.object({ s, other: other.nullish() }), values.flatMap(v => [{ s: v, other: pick(others) }, { s: v }, { s: v, other: null }])],
    () => [z.discriminatedUnion('t', [z.object({ t: z.literal('s'), s }), z.object({ t: z.literal('o'), other: other.optional() })]), values.flatMap(v => [{ t: 's', s: v }, { t: 'o', other: pick(others) }, { t: 'o' }])],
  ])();
}

const inside = values => [...values.map(v => ({ v })), {}];
const cases = [
  ...roots,
  ...leaves.map(([name, s, values]) => [name, z.object({ v: s }), inside([...values, ...junk]), s]),
  ...leaves.map(([name, s, values]) => ['optional ' + name, z.object({ v: s.optional(), w: z.boolean().nullish() }), [...inside(values), { w: null }, { w: 1 }], s]),
  ...Array.from({ length: 80 }, (_, i) => {
    const [s, values] = composed(2 + (i % 2));
    return ['composed ' + i, z.object({ v: s }), inside(values)];
  }),
];
for (const [i, [name, s, values, leaf = s]] of cases.entries()) {
  const valid = [], invalid = [];
  for (const v of [...values, ...junk]) {
    const list = s.safeParse(structuredClone(v)).success ? valid : invalid;
    if (list.length < 8 && v !== null && typeof v === 'object' && !Array.isArray(v)) list.push(v);
  }
  const target = i % 2 ? 'draft-07' : 'draft-2020-12';
  const schema = z.toJSONSchema(s, { target, io: 'input' });
  console.log(JSON.stringify({ name: `${name} (${target})`, more: more.has(leaf), less: less.has(leaf), schema, valid, invalid }));
}
