package wire

import "testing"

func TestBrokenAnswer(t *testing.T) {
	for raw, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"result":{"a":NaN}}`:                             "7",
		`{"jsonrpc":"2.0","id":"7","result":{"a":"b "c" d"}}`:                     `"7"`,
		`{"id": 7 , "jsonrpc": "2.0", "result":{'a':1}}`:                          "7",
		`{"jsonrpc":"2.0","result":{"a":Infinity}, "id": 7 }`:                     "7",
		`{"jsonrpc":"2.0","id":7,"result":{"a":"b`:                                "7",
		`{"jsonrpc":"2.0","id":7,"result":{}} and more`:                           "7",
		`{"jsonrpc":"2.0","id":7,"result":{"a":1,}}`:                              "7",
		`{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"a` + "\x01" + `"}`: "7",
		`{"jsonrpc":"2.0","id":7,"result":{}}`:                                    "", // is JSON
		`{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":NaN}}`:             "",
		`{"jsonrpc":"2.0","method":"a","params":{"a":NaN},"id":7}`:                "",
		`{"jsonrpc":"2.0","id":7,"result":{"method":NaN,"a":{"method":"x"}}}`:     "7",
		`{"jsonrpc":"2.0","id":7,"params":{"a":NaN},"method":"ping"}`:             "", // is a request
		`{"jsonrpc":"2.0","id":7,"params":{"a":"5" wide"}, "method" : "ping"}`:    "",
		`{"jsonrpc":"2.0","id":7,"result":1,"params":{"a":NaN},"method":"ping"}`:  "",
		`{"jsonrpc":"2.0","id":7,"params":{"a":NaN}}`:                             "", // may be the beginning of one
		`{"jsonrpc":"2.0","id":7,"params":{"a":"b`:                                "",
		`{"jsonrpc":"2.0","id":null,"result":{"a":NaN}}`:                          "",
		`{"jsonrpc":"2.0","id":{},"result":{"a":NaN}}`:                            "",
		`{"jsonrpc":"2.0","result":{"a":NaN}}`:                                    "",
		`{"jsonrpc":"2.0","result":{"a":NaN,"id":7}`:                              "",
		`{"result":{"a":NaN},"jsonrpc":"2.0","id":7}`:                             "7",
		`{"result":{"a":NaN},"id":7, "jsonrpc": "2.0"}`:                           "7",
		`{"id":7,"result":{"a":NaN},"jsonrpc":"2.0"}`:                             "7",
		`{"params":{"a":NaN},"method":"a","id":7,"jsonrpc":"2.0"}`:                "",
		`{"jsonrpc":"1.0","id":7,"result":{"a":NaN}}`:                             "",
		`{"id":7,"result":{"a":NaN}}`:                                             "",
		`sent {"jsonrpc":"2.0","id":7,"result":{"a":NaN}}`:                        "",
		`{level: "info", id: 7}`:                                                  "", "hello": "", "": "",
	} {
		if got := string(BrokenAnswer([]byte(raw))); got != want {
			t.Errorf("%s: got %q, want %q", raw, got, want)
		}
	}
}
