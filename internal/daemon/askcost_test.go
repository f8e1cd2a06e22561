package daemon

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tandem/internal/approval"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
)

// A call that is asked for, decided and made was three transactions. Telling of the ask made it four, and half as many pages again:
// each line of events.log was settled by a sync of its own.
func TestWhatAnAskCosts(t *testing.T) {
	k := keptAt(t, "")
	k.must("actor.add", obj{"name": "builder", "kind": "agent"})
	k.must("grant.add", obj{"principal": "agent:builder", "resource": "resource:/prod", "effect": "ask", "permissions": []string{"edit"}})
	builder, err := k.d.identity.Caller(t.Context(), identity.LocalTenant, "builder", op.DoorSocket)
	if err != nil {
		t.Fatal(err)
	}
	agent := op.WithCaller(t.Context(), builder)
	const asks = 20
	wal := filepath.Join(k.settings.Data(), "tandem.db-wal")
	commits, pages := writtenTo(t, wal)
	began := time.Now()
	for i := range asks {
		put := obj{"key": fmt.Sprintf("prod/flag%d", i), "value": "on"}
		_, err := k.d.gate.Invoke(agent, "resource.put", put)
		if !fault.Is(err, fault.Pending) {
			t.Fatalf("the call was not asked for: %v", err)
		}
		waiting := k.must("approval.list", obj{"state": "pending"}).(approval.ListOut)
		if len(waiting.Asks) != 1 {
			t.Fatalf("%d asks wait", len(waiting.Asks))
		}
		ask := k.must("approval.get", obj{"id": waiting.Asks[0].ID}).(*approval.Ask)
		yes := obj{"id": ask.ID, "decision": "approve", "digest": ask.Digest, "pages": []string{ask.Pages()[0].Digest}}
		k.must("approval.decide", yes)
		if _, err := k.d.gate.Invoke(agent, "resource.put", put); err != nil {
			t.Fatal(err)
		}
	}
	// What the program does by itself meanwhile, as signing the journal, comes about once a second.
	beside := 5 + 3*int(time.Since(began).Seconds())
	commitsNow, pagesNow := writtenTo(t, wal)
	if n, most := commitsNow-commits, 3*asks+beside; n > most {
		t.Errorf("%d asks were %d transactions, more than %d", asks, n, most)
	}
	if n, most := pagesNow-pages, 36*asks+10*beside; n > most {
		t.Errorf("%d asks wrote %d pages, more than %d", asks, n, most)
	}
}

// writtenTo counts the transactions and pages in SQLite's log of writes.
func writtenTo(t *testing.T, wal string) (commits, pages int) {
	t.Helper()
	data, err := os.ReadFile(wal)
	if err != nil || len(data) < 32 {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	frame := 24 + int(binary.BigEndian.Uint32(data[8:]))
	salt := string(data[16:24])
	for at := 32; at+frame <= len(data) && string(data[at+8:at+16]) == salt; at += frame {
		pages++
		if binary.BigEndian.Uint32(data[at+4:]) != 0 {
			commits++
		}
	}
	return commits, pages
}
