// The steps of TestMatrix for clients in JavaScript. An adapter of a library has
// events, names, call, read and watch; see ts1.mjs.

export const prepared = JSON.parse(process.argv[2]); // what TestMatrix wants of this process

// Answers to what servers ask. They quote the question, so that a result shows
// that both directions work.
export const answers = {
  elicit: params => ({ action: 'accept', content: { name: `Ada (${params.message})` } }),
  sample: params => ({ role: 'assistant', model: 'live', content: { type: 'text', text: `answer to ${[params.messages[0].content].flat()[0].text}` } }),
  roots: () => ({ roots: [{ uri: 'file:///live', name: 'live' }] }),
};

// Events are the notifications so far, and whoever waits for one.
export class Events {
  #all = [];
  #wake = () => {};
  add(event) {
    this.#all.push(event);
    this.#wake();
  }
  forget() {
    this.#all = [];
  }
  // until waits for an event, and forgets it.
  async until(event) {
    while (!this.#all.includes(event)) await new Promise(wake => (this.#wake = wake));
    this.#all = this.#all.filter(e => e !== event);
  }
}

const text = result => result.content.map(c => c.text).join('');

const steps = {
  list: async (client, server) => {
    for (;;) {
      const names = (await client.names('tools')).filter(name => name.startsWith(server + '__'));
      if (names.length) return names.sort();
      await new Promise(wake => setTimeout(wake, 50)); // the gateway still connects to the server
    }
  },
  call: async (client, server) => text(await client.call(server + '__echo', { text: 'hi' })),
  elicit: async (client, server) => text(await client.call(server + '__elicit', {})),
  sample: async (client, server) => text(await client.call(server + '__sample', {})),
  roots: async (client, server) => text(await client.call(server + '__roots', {})),
  progress: async (client, server) => {
    const steps = [];
    let resumed;
    const onprogress = p => {
      steps.push([p.progress, p.total, p.message]);
      if (p.progress === p.total) resumed = client.call(server + '__resume', {});
    };
    const result = await client.call(server + '__count', {}, { onprogress });
    await resumed;
    return [...steps, text(result)];
  },
  cancel: async (client, server) => {
    const abort = new AbortController();
    const call = client.call(server + '__wait', {}, { onprogress: () => abort.abort(), signal: abort.signal });
    const outcome = await call.then(text, () => 'rejected');
    return [outcome, text(await client.call(server + '__canceled', {}))];
  },
  subscribe: async (client, server) => {
    const uri = `live://${server}/clock`;
    await client.watch(uri);
    await client.call(server + '__touch', {});
    await client.events.until(uri);
    return (await client.read(uri)).contents[0].text;
  },
  changed: async (client, server) => {
    await client.watch();
    client.events.forget();
    await client.call(server + '__grow', {});
    const grown = {};
    for (const kind of ['tools', 'prompts', 'resources']) {
      do {
        await client.events.until(kind);
        grown[kind] = (await client.names(kind)).filter(name => name.includes(server) && name.endsWith('grown'));
      } while (!grown[kind].length);
    }
    return grown;
  },
};

// run makes all steps with all servers, and writes one line for each.
export async function run(connect) {
  const client = await connect().catch(e => {
    console.log(JSON.stringify({ step: 'connect', error: String(e) }));
    process.exit(0);
  });
  console.log(JSON.stringify({ step: 'connect', got: client.version() }));
  for (const [step, make] of Object.entries(steps)) {
    for (const server of prepared.servers) {
      const late = new Promise((_, reject) => setTimeout(reject, prepared.patience, new Error(`not within ${prepared.patience} ms`)).unref());
      const line = { server, step };
      try {
        line.got = await Promise.race([make(client, server), late]);
      } catch (e) {
        line.error = String(e);
      }
      console.log(JSON.stringify(line));
    }
  }
  await client.close();
}
