package terminal

import (
	"context"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/op"
)

// A checkout is granted as its repository is, and taking one over asked nobody about that. A job did, when it was started.
func TestACheckoutIsGivenOnWithinAJobAlone(t *testing.T) {
	for _, door := range []op.Door{op.DoorSocket, op.DoorHTTP, op.DoorPanel, op.DoorMCP} {
		ctx := op.WithCaller(context.Background(), op.Caller{Tenant: "t", Name: "bot", Kind: op.Agent, Door: door})
		if _, err := (&Driver{}).ownCheckout(ctx, OpenIn{Checkout: "/r-job"}, "/r"); !fault.Is(err, fault.Denied) {
			t.Errorf("by the door %s: %v", door, err)
		}
	}
}
