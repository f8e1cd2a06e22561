package inbox

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"tandem/internal/inbox/wire"
	knowledge "tandem/internal/knowledge/wire"
	"tandem/internal/op"
)

// unread is one row for each knowledge space that the caller answers for and whose items wait to be read. Of others nobody but its
// owners could let them answer.
func unread(ctx context.Context, r *Room) (out []wire.Row, err error) {
	list, err := op.Do(ctx, r.rooms, knowledge.List, knowledge.ListIn{})
	for _, k := range list.Spaces {
		if k.Working == 0 || !answersFor(ctx, k) {
			continue
		}
		shown, err := op.Do(ctx, r.rooms, knowledge.Show, knowledge.ShowIn{Name: k.Name, State: knowledge.Working, Limit: 200})
		if err != nil || len(shown.Items) == 0 { // it was closed or read meanwhile
			continue
		}
		oldest, items := shown.Items[len(shown.Items)-1], fmt.Sprintf("%d items wait", shown.Working)
		if shown.Working == 1 {
			items = "1 item waits"
		}
		out = append(out, wire.Row{Kind: wire.Knowledge, ID: oldest.ID, Name: k.Name, Since: oldest.MadeAt,
			What: line(items + " to be read by an owner, since then: " + oldest.Title),
			Next: fmt.Sprintf("tandem knowledge show %s --state working", k.Name), Page: "/panel/knowledge/" + url.PathEscape(k.Name)})
	}
	return out, err
}

// answersFor says whether a caller lets items of a knowledge space answer: an owner, who administers the house, and the terminal of
// either.
func answersFor(ctx context.Context, k knowledge.Space) bool {
	c := op.CallerFrom(ctx)
	person := string(op.Person) + ":"
	return c.Here() || c.Kind == op.Person && slices.Contains(k.Owners, c.Name) ||
		op.May(ctx, "knowledge.admin", op.Resource{Kind: "knowledge", Path: "/" + k.Name}) ||
		c.Kind == op.Local && slices.ContainsFunc(c.For, func(who string) bool {
			return strings.HasPrefix(who, person) && slices.Contains(k.Owners, strings.TrimPrefix(who, person))
		})
}
