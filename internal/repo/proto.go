package repo

import (
	"fmt"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// fields walks the fields of one protobuf message. The handler says whether it
// knew the field; the bytes of those it did not are returned as they came, so
// that a message written by a newer jj loses nothing when it passes through.
func fields(b []byte, handle func(num protowire.Number, f field) (known bool, err error)) (unknown string, err error) {
	var rest []byte
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return "", fmt.Errorf("protobuf tag: %w", protowire.ParseError(n))
		}
		m := protowire.ConsumeFieldValue(num, typ, b[n:])
		if m < 0 {
			return "", fmt.Errorf("protobuf field %d: %w", num, protowire.ParseError(m))
		}
		known, err := handle(num, field{typ, b[n : n+m]})
		if err != nil {
			return "", fmt.Errorf("field %d: %w", num, err)
		}
		if !known {
			rest = append(rest, b[:n+m]...)
		}
		b = b[n+m:]
	}
	return string(rest), nil
}

// field is the raw value of one protobuf field, already known to be well
// formed for its wire type.
type field struct {
	typ protowire.Type
	raw []byte
}

func (f field) bytes() ([]byte, error) {
	if f.typ != protowire.BytesType {
		return nil, fmt.Errorf("has wire type %d, want bytes", f.typ)
	}
	v, _ := protowire.ConsumeBytes(f.raw)
	return v, nil
}

func (f field) str(into *string) error {
	v, err := f.bytes()
	if err == nil && !utf8.Valid(v) {
		err = fmt.Errorf("is not UTF-8")
	}
	*into = string(v)
	return err
}

func (f field) varint(into *uint64) error {
	if f.typ != protowire.VarintType {
		return fmt.Errorf("has wire type %d, want varint", f.typ)
	}
	*into, _ = protowire.ConsumeVarint(f.raw)
	return nil
}

func (f field) bool(into *bool) error {
	var n uint64
	err := f.varint(&n)
	*into = n != 0
	return err
}

// message walks a nested message.
func (f field) message(handle func(protowire.Number, field) (bool, error)) (unknown string, err error) {
	b, err := f.bytes()
	if err != nil {
		return "", err
	}
	return fields(b, handle)
}

func appendBytes[T ~string](b []byte, num protowire.Number, v T) []byte {
	b = protowire.AppendTag(b, num, protowire.BytesType)
	return protowire.AppendString(b, string(v))
}

// appendText leaves the empty string out, as proto3 does.
func appendText(b []byte, num protowire.Number, v string) []byte {
	if v == "" {
		return b
	}
	return appendBytes(b, num, v)
}

func appendVarint(b []byte, num protowire.Number, v uint64) []byte {
	b = protowire.AppendTag(b, num, protowire.VarintType)
	return protowire.AppendVarint(b, v)
}

// appendInt leaves zero out, as proto3 does.
func appendInt(b []byte, num protowire.Number, v int64) []byte {
	if v == 0 {
		return b
	}
	return appendVarint(b, num, uint64(v))
}
