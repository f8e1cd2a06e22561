package approval

import "testing"

// Two machines of one name are told apart by the keys of their requests.
func TestTheTitleOfARequestToJoinHasItsKey(t *testing.T) {
	a := &Ask{Op: "join.enter", Resource: "join:/vm", Input: []byte(`{"name":"vm","from":"127.0.0.1","key":"F4ND-OWVC-A54A-5GXD"}`)}
	if got := title(a); got != "join.enter join:/vm, request F4ND-OWVC-A54A-5GXD" {
		t.Error(got)
	}
}
