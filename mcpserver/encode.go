package mcpserver

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// encodeMessage writes results as they are: the library encodes them before.
// Errors to which it gives no code are those of requests at a wrong time.
func encodeMessage(msg jsonrpc.Message) ([]byte, error) {
	r, ok := msg.(*jsonrpc.Response)
	if !ok {
		return jsonrpc.EncodeMessage(msg)
	}
	if r.Error == nil {
		return response(encodeID(r.ID), r.Result), nil
	}
	fault := rpcError(jsonrpc.CodeInvalidRequest, "%v", r.Error)
	var coded *jsonrpc.Error
	if errors.As(r.Error, &coded) {
		fault.Code, fault.Data = coded.Code, coded.Data
	}
	return failure(encodeID(r.ID), fault), nil
}

func encodeID(id jsonrpc.ID) []byte {
	switch v := id.Raw().(type) {
	case string:
		return quote(v)
	case int64:
		return strconv.AppendInt(nil, v, 10)
	}
	return []byte("null")
}

// response writes the response that carries a result.
func response(id, result []byte) []byte {
	const head, middle = `{"jsonrpc":"2.0","id":`, `,"result":`
	b := make([]byte, 0, len(head)+len(id)+len(middle)+len(result)+1)
	b = append(append(b, head...), id...)
	b = append(append(b, middle...), result...)
	return append(b, '}')
}

// failure writes the response that carries an error; without id, it is null.
func failure(id json.RawMessage, fault *jsonrpc.Error) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	return append(appendError(append(b, `,"error":`...), fault), '}')
}

func appendError(b []byte, fault *jsonrpc.Error) []byte {
	b = strconv.AppendInt(append(b, `{"code":`...), fault.Code, 10)
	b = append(append(b, `,"message":`...), quote(fault.Message)...)
	if fault.Data != nil {
		b = append(append(b, `,"data":`...), fault.Data...)
	}
	return append(b, '}')
}
