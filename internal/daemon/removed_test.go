package daemon

import (
	"testing"

	artifacts "tandem/internal/artifact/wire"
	"tandem/internal/db"
)

const noting = `
name = "noting"
[[node]]
id = "put"
[node.operation]
name = "resource.put"
input = { key = "noted", value = "a text" }
[node.output.value]
artifact = "markdown"
`

// What another's automation made is not removed without a word; whoever switched it on needs none.
func TestRemovingIsTold(t *testing.T) {
	k := keptAt(t, "")
	r := k.ran(noting, nil)
	if r.Status != "completed" {
		t.Fatalf("the run is %+v", r)
	}
	var tenant, on string
	if err := k.d.db.QueryRow(t.Context(), "SELECT tenant, switched_by FROM automation").Scan(&tenant, &on); err != nil {
		t.Fatal(err)
	}
	for by, want := range map[string]int{on: 0, "another": 1} {
		var before, after int
		if err := k.d.db.Write(t.Context(), func(tx *db.Tx) error {
			if err := tx.QueryRow("SELECT count(DISTINCT notice) FROM notice_way").Scan(&before); err != nil {
				return err
			}
			if err := k.d.rooms.tell.Removed(tx, tenant, artifacts.RemoveIn{Name: "noting.put.value"}, 1, by); err != nil {
				return err
			}
			return tx.QueryRow("SELECT count(DISTINCT notice) FROM notice_way").Scan(&after)
		}); err != nil || after-before != want {
			t.Errorf("%s removes it, and %d notices are written: %v", by, after-before, err)
		}
	}
}
