package mcp

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/space/peer"
)

func method(line []byte) string {
	var m struct {
		Method string `json:"method"`
	}
	_ = json.Unmarshal(line, &m) // what cannot be read, the daemon refuses
	return m.Method
}

// withChannel adds to the server's introduction that it may announce things.
// What is not such an introduction stays as it is.
func withChannel(msg []byte) []byte {
	var m map[string]json.RawMessage
	var result, can map[string]json.RawMessage
	if json.Unmarshal(msg, &m) != nil || json.Unmarshal(m["result"], &result) != nil || json.Unmarshal(result["capabilities"], &can) != nil {
		return msg
	}
	if can == nil {
		can = map[string]json.RawMessage{}
	}
	can["experimental"] = json.RawMessage(`{"claude/channel":{}}`)
	var err error
	if result["capabilities"], err = json.Marshal(can); err != nil {
		return msg
	}
	if m["result"], err = json.Marshal(result); err != nil {
		return msg
	}
	out, err := json.Marshal(m)
	if err != nil {
		return msg
	}
	return out
}

// announce tells the agent of messages as they come: the fixed sentence with
// ids, and no words. A wake hook of the same agent takes its place, for that one
// is known to arrive.
func announce(ctx context.Context, c *client.Client, write func([]byte)) {
	for ctx.Err() == nil {
		out, err := op.Do(ctx, c, peer.SpaceWait, peer.WaitIn{Seconds: 60, Parents: []int{os.Getppid()}})
		switch {
		case err == nil && out.State == "superseded":
			return
		case err == nil && out.Text != "":
			msg, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": "notifications/claude/channel",
				"params": map[string]any{"content": out.Text, "meta": map[string]string{"source": "tandem"}}})
			if err == nil {
				write(msg)
			}
		case err != nil && !fault.Is(err, fault.Unavailable):
			return
		case err != nil:
			select {
			case <-ctx.Done():
			case <-time.After(2 * time.Second):
			}
		}
	}
}
