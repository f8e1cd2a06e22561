package daemon

import (
	"encoding/json"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/db"
	"tandem/internal/identity"
	inbox "tandem/internal/inbox/wire"
	"tandem/internal/op"
)

// An ask whose dialog or program is gone ends without an answer. The inbox says that it ended, and why, beside the asks that still wait;
// of one that was answered at the terminal there is nothing to say.
func TestTheInboxSaysWhyAnAskEnded(t *testing.T) {
	k := keptAt(t, "")
	builder := op.Caller{Tenant: identity.LocalTenant, Actor: "act_builder", Name: "builder", Kind: op.Agent}
	const why = "the program that asked is gone"
	asks := map[string]string{} // by what was done to them
	err := k.d.db.Write(t.Context(), func(tx *db.Tx) error {
		room := k.d.rooms.approval
		for _, what := range []string{"waits", "abandoned", "withdrawn"} {
			a, _, err := room.File(tx, approval.Call{Caller: builder, Op: "session.tool", Resource: "tool:/bash", Digest: "digest of " + what,
				Input: json.RawMessage(`{"command":"` + what + `"}`), Approvers: []string{"person:*"}})
			if err != nil {
				return err
			}
			asks[a.ID] = what
			switch what {
			case "abandoned":
				_, err = room.Abandon(tx, a.Tenant, a.AskerID, a.ID, why)
			case "withdrawn":
				_, err = room.Withdraw(tx, a.Tenant, a.AskerID, a.ID, "it was answered at the terminal")
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]inbox.Row{}
	for _, row := range k.must("inbox.list", inbox.In{}).(inbox.Out).Rows {
		if what := asks[row.ID]; what != "" {
			told[what] = row
		}
	}
	if row := told["abandoned"]; row.Kind != inbox.Ended || !strings.Contains(row.What, why) ||
		!strings.HasPrefix(row.Next, "tandem approvals show ") {
		t.Errorf("of what is gone it says %+v", row)
	}
	if row := told["waits"]; row.Kind != inbox.Ask || len(told) != 2 {
		t.Errorf("it tells %+v", told)
	}
}
