package session

import (
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"tandem/internal/db"
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
		return r.happen(tx, s, t, acted{a, c, model, used})
	})
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
