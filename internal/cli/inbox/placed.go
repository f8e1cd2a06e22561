package inbox

import (
	"context"
	"slices"
	"strings"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/inbox/wire"
	login "tandem/internal/login/wire"
	"tandem/internal/op"
)

// row is one of the inbox with the server that it is at: the name of a login, own for this machine's, "" where there is one alone.
type row struct {
	wire.Row
	Server string `json:"server,omitempty"`
}

// placed is what needs a person, here and where they are logged in.
type placed struct {
	wire.Out
	Rows []row `json:"rows"`
}

func rowsOf(out wire.Out, server string) []row {
	rows := []row{}
	for _, r := range out.Rows {
		r.Next = typedFrom(r.Next, server)
		rows = append(rows, row{r, server})
	}
	return rows
}

// typedFrom is the line of a row as somebody types it who is logged in, so that it goes where the row is. Commands that name a job find
// it; what is about a machine alone is typed there.
func typedFrom(line, server string) string {
	command := strings.TrimPrefix(line, "tandem ")
	follows, stays := kit.About(command)
	switch {
	case server == login.Own && follows:
		return line + " --server own"
	case server != "" && server != login.Own && !follows && !stays:
		return "at " + server + " itself: " + line
	}
	return line
}

// both adds what waits on this machine's own server to what waits where the person is logged in, unless they named that one alone.
func (p *placed) both(ctx context.Context, k *kit.Kit, in wire.In) {
	if k.Named() {
		return
	}
	var own wire.Out
	err := k.Here(func() (err error) { own, err = op.Do(ctx, k, wire.List, in); return err })
	if err != nil {
		p.Missing = append(p.Missing, "this machine: "+fault.Public(err).Msg)
		return
	}
	p.Rows = append(p.Rows, rowsOf(own, login.Own)...)
	p.Count, p.Looking, p.Missing = p.Count+own.Count, p.Looking+own.Looking, append(p.Missing, own.Missing...)
	slices.SortStableFunc(p.Rows, func(a, b row) int {
		if d := slices.Index(wire.Kinds, a.Kind) - slices.Index(wire.Kinds, b.Kind); d != 0 {
			return d
		}
		return a.Since.Compare(b.Since)
	})
}
