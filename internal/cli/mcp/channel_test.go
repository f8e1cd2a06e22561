package mcp

import (
	"encoding/json"
	"testing"
)

func TestWithChannel(t *testing.T) {
	var got struct {
		ID     int
		Result struct {
			ServerInfo   struct{ Name string } `json:"serverInfo"`
			Capabilities map[string]json.RawMessage
		}
	}
	out := withChannel([]byte(`{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"tandem"},"capabilities":{"tools":{}}}}`))
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if got.ID != 1 || got.Result.ServerInfo.Name != "tandem" || string(got.Result.Capabilities["experimental"]) != `{"claude/channel":{}}` ||
		string(got.Result.Capabilities["tools"]) != "{}" {
		t.Errorf("%s", out)
	}
	for _, same := range []string{`{"jsonrpc":"2.0","id":1,"error":{"code":1}}`, `{"result":{}}`, `nonsense`} {
		if out := withChannel([]byte(same)); string(out) != same {
			t.Errorf("%s became %s", same, out)
		}
	}
}
