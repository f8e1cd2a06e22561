package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"tandem/internal/db"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/secret"
)

// exact is a digest of the call as it was made.
func (c *call) exact() (string, error) {
	if c.digest == "" {
		data, err := json.Marshal(c.in)
		if err != nil {
			return "", fmt.Errorf("encode the input of %s: %w", c.op.Name, err)
		}
		h := sha256.New()
		fmt.Fprintf(h, "tandem call v1\n%s\n%s\n", c.op.Name, c.resource)
		h.Write(data)
		c.digest = hex.EncodeToString(h.Sum(nil))
	}
	return c.digest, nil
}

// sent is what an idempotency key is bound to: the call, and the assertions that narrow whoever makes it. What one was answered who reaches
// further is not told to the other.
func (c *call) sent() (string, error) {
	digest, err := c.exact()
	for _, by := range op.Narrowings(c.caller) {
		digest += " " + by
	}
	return digest, err
}

func brief(input json.RawMessage) any {
	if len(input) <= maxInput {
		return input
	}
	sum := sha256.Sum256(input)
	return map[string]any{"omitted_bytes": len(input), "sha256": hex.EncodeToString(sum[:])}
}

func (c *call) event(phase string, cause int64, extra map[string]any) (journal.Event, error) {
	input, err := c.op.Redacted(c.in)
	if err != nil {
		return journal.Event{}, err
	}
	body := map[string]any{"input": brief(input), "door": c.caller.Door}
	if c.caller.Present != "" {
		body["present"] = c.caller.Present
	}
	if c.caller.Device != "" {
		body["device"] = c.caller.Device
	}
	if c.caller.Token != "" {
		body["token"] = c.caller.Token
	}
	if c.caller.Session != "" {
		body["session"] = c.caller.Session
	}
	if len(c.caller.Prompted) > 0 {
		body["prompted"] = c.caller.Prompted
	}
	if len(c.notes.Facts) > 0 {
		body["facts"] = c.notes.Facts
	}
	if c.decision.By != "" {
		body["by"] = c.decision.By
	}
	if c.approval != "" {
		body["approval"] = c.approval
	}
	var seals []journal.Seal
	if phase == journal.Done || phase == journal.Intent || phase == journal.Outcome && extra["ok"] == true {
		seals = c.seals()
	}
	if len(seals) > 0 {
		held := map[string]string{}
		for _, s := range seals {
			held[s.Subject] = hex.EncodeToString(s.Digest[:])
		}
		body["seals"] = held
	}
	for k, v := range extra {
		body[k] = v
	}
	payload, err := json.Marshal(body)
	return journal.Event{Tenant: c.caller.Tenant, Type: c.op.Name, Phase: phase, Actor: c.caller.Name, For: c.caller.For,
		Resource: c.resource.String(), Request: c.caller.Request, Payload: payload, Cause: cause, Seals: seals,
		Receipt: phase == journal.Done && strings.HasSuffix(c.op.Right, ".decide")}, err
}

func (g *Gate) append(tx *db.Tx, c *call, phase string, cause int64, extra map[string]any) (int64, error) {
	e, err := c.event(phase, cause, extra)
	if err != nil {
		return 0, err
	}
	record := g.record(c.caller)
	e.Payload, e.Resource = record.JSON(e.Payload), c.resource.Kind+":"+record.String(c.resource.Path)
	return g.journal.Append(tx, e)
}

// record takes secrets out of what a caller leaves behind.
func (g *Gate) record(c op.Caller) secret.Record { return g.Redact.In(c.Tenant, c.Name) }
