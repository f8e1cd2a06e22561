package session

import (
	"context"
	"fmt"
	"io"
	"strings"

	"tandem/internal/cli/kit"
	inbox "tandem/internal/inbox/wire"
)

// next prints what a turn waits for, and the command that answers it; nothing when it is answered already.
func next(ctx context.Context, k *kit.Kit, w io.Writer, ask string) error {
	var out inbox.Out
	if err := k.Call(ctx, string(inbox.List), inbox.In{}, &out); err != nil {
		return err
	}
	for _, r := range out.Rows {
		if r.ID != ask {
			continue
		}
		fmt.Fprintf(w, "%s  %s\n", r.Kind, kit.SeenLine(r.What))
		if len(r.Options) > 0 {
			fmt.Fprintf(w, "choose: %s\n", kit.SeenLine(strings.Join(r.Options, ", ")))
		}
		fmt.Fprintf(w, "next:  %s\n", kit.VisibleLine(r.Next))
	}
	return nil
}
