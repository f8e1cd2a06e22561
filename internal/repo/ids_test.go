package repo

import (
	"encoding/hex"
	"reflect"
	"testing"
)

func raw(t *testing.T, h string) CommitID {
	t.Helper()
	b, err := hex.DecodeString(h)
	if err != nil {
		t.Fatal(err)
	}
	return CommitID(b)
}

func vectorView(t *testing.T) *View {
	id := func(h string) CommitID { return raw(t, h) }
	v := RootView()
	v.Heads = map[CommitID]struct{}{id("aaa111"): {}, id("aaa222"): {}}
	v.SetBookmark("main", Target(id("ccc111")))
	v.SetTag("v1.0", Target(id("ddd111")))
	v.SetRemoteBookmark("origin", "main", RemoteRef{Target: Target(id("ccc222")), Tracked: true})
	v.SetRemoteBookmark("origin", "deleted", RemoteRef{Target: Target(id("ccc333"))})
	v.SetRemoteTag("origin", "v1.0", RemoteRef{Target: Target(id("ddd222")), Tracked: true})
	v.SetRemoteTag("origin", "deleted", RemoteRef{Target: Target(id("ddd333"))})
	v.SetGitRef("refs/heads/main", Target(id("fff111")))
	v.SetGitRef("refs/heads/feature", RefTarget{id("fff222"), id("fff111"), id("fff333")})
	v.SetGitHead("default", Target(id("fff111")))
	v.Workspaces["default"] = id("abc111")
	v.Workspaces["test"] = id("abc222")
	return v
}

func vectorOperation(t *testing.T) *Operation {
	pad := func(h string) string {
		b := make([]byte, OperationIDLen)
		copy(b, raw(t, h))
		return string(b)
	}
	return &Operation{
		View:    ViewID(pad("aaa111")),
		Parents: []OperationID{OperationID(pad("bbb111")), OperationID(pad("bbb222"))},
		Meta: OperationMeta{
			Start: Timestamp{123456789, 3600}, End: Timestamp{123456800, 3600},
			Description: "check out foo", Hostname: "some.host.example.com", Username: "someone",
			Workspace: "test", Attributes: map[string]string{"key1": "value1", "key2": "value2"},
		},
		Predecessors: map[CommitID][]CommitID{
			raw(t, "111111"): {},
			raw(t, "222222"): {raw(t, "333333"), raw(t, "444444")},
		},
	}
}

// The two ids are jj's own published vectors (jj-lib, simple_op_store tests).
func TestPublishedVectors(t *testing.T) {
	if got, want := vectorView(t).ComputeID().Hex(), "b37a61a743f394241cd44e9016cc6f9b68321d7ae0e21e432d9124d08a1b5f98f08f6a1d04534ea0"+
		"652ea4be74e9c4fb2075bdf00343165b5d380aa196790a14"; got != want {
		t.Errorf("view id %s, want %s", got, want)
	}
	if got, want := vectorOperation(t).ComputeID().Hex(), "f5963c593a63bb852061a86ad919c12c6ba1940eeef30a832524c39ccea6a9f7"+
		"68aa2aa53becec34d379eb291ec6726837c4113857849cb9dcc62dbe0a517176"; got != want {
		t.Errorf("operation id %s, want %s", got, want)
	}
}

func TestCodecKeepsEverything(t *testing.T) {
	v := vectorView(t)
	future := string(appendBytes(nil, 99, "from a newer jj"))
	v.unknown = future
	r := v.Remotes["origin"]
	r.unknown = future
	v.Remotes["origin"] = r
	got, err := DecodeView(v.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, v) {
		t.Errorf("view changed on the way:\n%+v\n%+v", got, v)
	}
	o := vectorOperation(t)
	o.unknown, o.Meta.unknown = future, future
	gotOp, err := DecodeOperation(o.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(gotOp, o) {
		t.Errorf("operation changed on the way:\n%+v\n%+v", gotOp, o)
	}
}

func TestReverseHex(t *testing.T) {
	id := ChangeID("\x01\x23\x45\x67\x89\xab\xcd\xef\xff\xff\xff\xff\xff\xff\xff\xff")
	s := id.String()
	if s != "zyxwvutsrqponmlkkkkkkkkkkkkkkkkk" {
		t.Fatalf("spelled %s", s)
	}
	if back, ok := ParseChangeID(s); !ok || back != id {
		t.Fatalf("read back as %v", back)
	}
	if _, ok := ParseChangeID("abc"); ok {
		t.Fatal("accepted plain hexadecimal")
	}
}
