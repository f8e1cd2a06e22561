package server

import (
	"context"
	"fmt"
	"io"
	"time"

	"tandem/internal/cli/kit"
	inbox "tandem/internal/inbox/wire"
	login "tandem/internal/login/wire"
)

// awayServer is the server where the person is logged in, and what waits for them there.
type awayServer struct {
	Name    string `json:"name"`
	Server  string `json:"server"`
	Person  string `json:"person"`
	Inbox   int    `json:"inbox"`
	Unknown string `json:"unknown,omitempty"` // why nobody knows what waits there
}

// loggedIn asks the server of the login, which may be far away or gone: a status does not wait for it for long.
func loggedIn(ctx context.Context, k *kit.Kit) (out *awayServer) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	k.There(ctx, func(l *login.Login) error { //nolint:errcheck // it is told as what is not known
		out = &awayServer{Name: l.Name, Server: l.Server, Person: l.Person}
		var waits inbox.Out
		err := k.Call(ctx, string(inbox.List), inbox.In{}, &waits)
		if err != nil {
			out.Unknown = err.Error()
		}
		out.Inbox = waits.Count
		return nil
	})
	return out
}

func (a *awayServer) show(w io.Writer) {
	if a == nil {
		return
	}
	fmt.Fprintf(w, "Logged in: %s at %s (%s), which most commands are about (tandem whoami)\n", a.Person, a.Name, a.Server)
	switch {
	case a.Unknown != "":
		fmt.Fprintf(w, "  what needs you there is not known: %s\n", kit.VisibleLine(a.Unknown))
	case a.Inbox > 0:
		fmt.Fprintf(w, "  needs you there: %d (tandem inbox)\n", a.Inbox)
	}
}
