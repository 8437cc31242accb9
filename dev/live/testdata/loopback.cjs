// Makes servers that listen on all interfaces listen on 127.0.0.1 only.
const { Server } = require('net');
const listen = Server.prototype.listen;
Server.prototype.listen = function (port, ...rest) {
  if (typeof port !== 'object' && /^\d+$/.test(port)) {
    return listen.call(this, { port: Number(port), host: '127.0.0.1' }, rest.find(a => typeof a === 'function'));
  }
  return listen.call(this, port, ...rest);
};
