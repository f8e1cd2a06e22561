package op

import (
	"context"
	"encoding/json"
	"testing"
)

type countIn struct {
	N int `json:"n"`
}

type countOut struct {
	Twice int `json:"twice"`
}

const double = Def[countIn, *countOut]("count.double")

type answering func(name string, in any) (any, error)

func (a answering) Invoke(_ context.Context, name string, in any) (any, error) { return a(name, in) }

func TestAHandleBindsNameAndTypes(t *testing.T) {
	row := double.Read(Spec{Doc: "Double it."}, func(countIn) Resource { return Resource{Kind: "count", Path: "/"} },
		func(_ context.Context, in countIn) (*countOut, error) { return &countOut{in.N * 2}, nil })
	if row.Name != "count.double" || row.Class != ClassRead {
		t.Fatalf("the row is %s, %s", row.Name, row.Class)
	}
	here := answering(func(name string, in any) (any, error) { return row.RunRead(context.Background(), in) })
	far := answering(func(name string, in any) (any, error) {
		out, err := row.RunRead(context.Background(), in)
		data, _ := json.Marshal(out)
		return json.RawMessage(data), err
	})
	for where, inv := range map[string]Invoker{"in this process": here, "from afar": far} {
		out, err := Do(context.Background(), inv, double, countIn{21})
		if err != nil || out.Twice != 42 {
			t.Errorf("%s: %+v, %v", where, out, err)
		}
	}
	for what, wrong := range map[string]any{"another type": countIn{}, "no JSON": json.RawMessage("{")} {
		inv := answering(func(string, any) (any, error) { return wrong, nil })
		if _, err := Do(context.Background(), inv, double, countIn{}); err == nil {
			t.Errorf("an answer that is %s was taken", what)
		}
	}
}
