package daemon

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/testenv"
)

// A server whose settings name a replica answers large reads from it, with what was done the moment before.
func TestAServerAsksItsReplica(t *testing.T) {
	p := testenv.NewCluster(t)
	k := keptAt(t, p.Address())
	k.must("resource.put", obj{"key": "first", "value": 1})
	far := p.Standby()
	asked := func() bool {
		var replica bool
		err := k.d.db.Wide(t.Context(), func(from *db.DB) error {
			return from.QueryRow(t.Context(), "SELECT pg_is_in_recovery()").Scan(&replica)
		})
		return err == nil && replica
	}
	if err := k.stop(); err != nil {
		t.Fatal(err)
	}
	k.settings = k.settings.With(map[string]string{"database_replica": far.Dir}, "a test")
	k.start()
	testenv.Eventually(t, "the replica is asked", time.Minute, asked)
	k.must("resource.put", obj{"key": "second", "value": 2})
	for name, in := range map[string]obj{"audit.log": {"newest": true, "limit": 10}, "audit.export": {}} {
		said, err := json.Marshal(k.must(name, in))
		if err != nil || !strings.Contains(string(said), "resource:/second") {
			t.Errorf("%s lacks what was just done: %s, %v", name, said, err)
		}
	}
	k.must("memory.search", obj{"query": "anything"})
}
