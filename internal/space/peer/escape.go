package peer

import (
	"context"
	"errors"
	"reflect"
	"strings"

	"tandem/internal/fault"
)

// escape makes words safe to show to a model: no angle bracket can open or
// close a tag of its own. An arrow between spaces is part of the published
// sentences and closes nothing.
func escape(s string) string { return brackets.Replace(s) }

var brackets = strings.NewReplacer(" -> ", " -> ", "<", "&lt;", ">", "&gt;")

// data wraps an operation so that everything it answers, every field and the
// sentence of a failure, is escaped. Some agent programs show a model the
// structured answer and not its text, so the text alone is not enough.
func data[In, Out any](run func(context.Context, In) (Out, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (Out, error) {
		ctx = choosing(ctx, in)
		out, err := run(ctx, in)
		if t, ok := any(&out).(interface{ took(string) }); ok {
			t.took(choiceFrom(ctx).taken)
		}
		escapeAll(reflect.ValueOf(&out).Elem())
		var f *fault.Error
		if !errors.As(err, &f) {
			return out, err
		}
		clean := *f
		clean.Msg, clean.Next, clean.Data = escape(f.Msg), escape(f.Next), nil
		for k, v := range f.Data {
			clean.With(k, escape(v))
		}
		return out, &clean
	}
}

// escapeAll replaces every string below v that others could have written. What
// is reached through a pointer, a map or a slice is copied first: it may be
// shared with the seat.
func escapeAll(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if s := v.String(); v.CanSet() && strings.ContainsAny(s, "<>") {
			v.SetString(escape(s))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				escapeAll(v.Field(i))
			}
		}
	case reflect.Pointer:
		if !v.IsNil() && v.CanSet() {
			fresh := reflect.New(v.Type().Elem())
			fresh.Elem().Set(v.Elem())
			escapeAll(fresh.Elem())
			v.Set(fresh)
		}
	case reflect.Slice:
		if v.IsNil() || !v.CanSet() || v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		fresh := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(fresh, v)
		for i := range fresh.Len() {
			escapeAll(fresh.Index(i))
		}
		v.Set(fresh)
	case reflect.Map:
		if v.IsNil() || !v.CanSet() {
			return
		}
		fresh := reflect.MakeMapWithSize(v.Type(), v.Len())
		for _, k := range v.MapKeys() {
			key, val := reflect.New(k.Type()).Elem(), reflect.New(v.Type().Elem()).Elem()
			key.Set(k)
			val.Set(v.MapIndex(k))
			escapeAll(key)
			escapeAll(val)
			fresh.SetMapIndex(key, val)
		}
		v.Set(fresh)
	}
}
