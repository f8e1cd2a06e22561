package daemon

import (
	"context"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/models"
	"tandem/internal/op"
	remotewire "tandem/internal/remote/wire"
)

// A change that depends on what is stored reads it in its own transaction, and so sees what came a moment before.
func TestGuardsReadTheirOwnTransaction(t *testing.T) {
	k := keptAt(t, "")
	owner, agent := k.ctx(), op.WithCaller(t.Context(),
		op.Caller{Tenant: identity.LocalTenant, Actor: "act_builder", Name: "builder", Kind: op.Agent, Door: op.DoorSocket})
	err := k.d.db.Write(t.Context(), func(tx *db.Tx) error {
		run := func(ctx context.Context, name string, in any) error {
			_, err := k.d.gate.Table().Get(name).RunState(ctx, tx, in)
			return err
		}
		if err := run(owner, "provider.add", models.ProviderAddIn{ID: "openai", Base: "http://127.0.0.1:1/v1"}); err != nil {
			t.Error(err)
		}
		if err := run(owner, "provider.key", models.ProviderKeyIn{ID: "openai", Key: "sk-0123456789",
			Base: "https://api.openai.com/v1"}); !fault.Is(err, fault.Conflict) {
			t.Errorf("a key that is meant for another address: %v", err)
		}
		if err := run(owner, "provider.key", models.ProviderKeyIn{ID: "openai", Key: "sk-0123456789",
			Base: "http://127.0.0.1:1/v1"}); err != nil {
			t.Error(err)
		}
		if err := run(owner, "provider.add", models.ProviderAddIn{ID: "openai", Base: "https://api.openai.com/v1"}); err != nil {
			t.Error(err)
		}
		if _, err := k.d.rooms.secret.Open(tx, identity.LocalTenant, "provider/openai"); !fault.Is(err, fault.NotFound) {
			t.Errorf("the key of the address before: %v", err)
		}
		if err := run(owner, "workspace.trust", remotewire.TrustIn{Server: "build.example.org:1", Token: "tdm_the-machines-own"}); err != nil {
			t.Error(err)
		}
		if err := run(agent, "workspace.trust", remotewire.TrustIn{Server: "build.example.org:1",
			Token: "tdm_of-somebody-else"}); !fault.Is(err, fault.Denied) {
			t.Errorf("an agent changed as whom this machine joined: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
