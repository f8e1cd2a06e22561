package session

import (
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"tandem/internal/db"
	"tandem/internal/id"
	"tandem/internal/provider"
	"tandem/internal/tool"
)

// Act is one use of a tool that an agent program has of its own: it decides and runs there, and is kept here to be seen.
type Act struct {
	Ref    string // the program's name for it
	Tool   string // "" where only the outcome is known
	Args   json.RawMessage
	Result *tool.Result // nil until it is known
}

// Bounds of what is kept of a program's call. What is longer is cut in the middle, and says so.
const (
	maxActArgs   = 64 << 10
	maxActResult = 64 << 10
)

// Acted keeps what an agent program did in its turn. Told again, for example after a restart, it is kept once; an outcome whose call was
// never told is left out.
func (r *Room) Acted(ctx context.Context, t *Turn, a Act, model string, used provider.Usage) (*Turn, error) {
	return r.move(ctx, t, func(tx *db.Tx, s *Session, t *Turn) error {
		c, err := callByRef(inTx{tx}, t, a.Ref)
		if err != nil {
			return err
		}
		switch {
		case c == nil && a.Tool == "":
			return nil
		case c == nil:
			t.Usage = t.Usage.Add(used)
			if c, err = propose(tx, s, t, a, model); err != nil {
				return err
			}
		}
		if a.Result == nil || c.State.Ended() {
			return nil
		}
		return settle(tx, s, t, c, *a.Result)
	})
}

// propose adds a call to the conversation.
func propose(tx *db.Tx, s *Session, t *Turn, a Act, model string) (*Call, error) {
	args := a.Args
	if len(args) > maxActArgs || !json.Valid(args) {
		args = json.RawMessage(encode(map[string]string{"cut": middle(string(args), maxActArgs/2)}))
	}
	t.Calls++
	c := &Call{ID: id.New("call"), Tenant: t.Tenant, Session: t.Session, Turn: t.ID, Position: t.Calls, Ref: a.Ref, Tool: a.Tool, Args: args,
		State: CallProposed, CreatedAt: tx.Now()}
	block := provider.Block{Kind: provider.CallKind, Call: &provider.Call{ID: a.Ref, Name: a.Tool, Args: args}}
	if err := addMessage(tx, s, &Message{ID: id.New("msg"), Turn: t.ID, Role: RoleAssistant, Blocks: []provider.Block{block},
		Model: model}); err != nil {
		return nil, err
	}
	if err := saveCall(tx, c); err != nil {
		return nil, err
	}
	return c, tell(tx, s, t.ID, EventCall, c)
}

// settle gives a call its outcome.
func settle(tx *db.Tx, s *Session, t *Turn, c *Call, result tool.Result) error {
	result.Text = middle(result.Text, maxActResult)
	now := tx.Now()
	c.State, c.EndedAt, c.Result = CallDone, &now, &result
	if result.Error {
		c.State = CallFailed
	}
	if err := saveCall(tx, c); err != nil {
		return err
	}
	if err := addMessage(tx, s, &Message{ID: id.New("msg"), Turn: t.ID, Role: RoleTool,
		Blocks: []provider.Block{resultBlock(c)}}); err != nil {
		return err
	}
	return tell(tx, s, t.ID, EventCall, c)
}

// middle cuts a long text in its middle.
func middle(text string, most int) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	if len(text) <= most {
		return text
	}
	head, tail := most/2, len(text)-most/2
	for !utf8.RuneStart(text[head]) {
		head--
	}
	for !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + "\n… cut …\n" + text[tail:]
}
