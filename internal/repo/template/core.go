package template

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/dsl"
	"tandem/internal/repo/text"
)

// The core types. Their contents are filled in by init, because methods of one
// return values of another.
var (
	StringType, BytesType, BooleanType, IntegerType       = new(Type), new(Type), new(Type), new(Type)
	EmailType, SignatureType, TimestampType, RangeType    = new(Type), new(Type), new(Type), new(Type)
	SizeHintType, PathType, ConfigType, CapturesType      = new(Type), new(Type), new(Type), new(Type)
	IntegerOpt, PathOpt, ConfigOpt, StringList, BytesList *Type
)

func init() {
	*StringType, *BytesType = stringType("String"), stringType("ByteString")
	StringType.Methods = func() map[string]Method { return stringMethods(StringType, StringList) }
	BytesType.Methods = func() map[string]Method { return stringMethods(BytesType, BytesList) }
	*BooleanType = Type{
		Name:  "Boolean",
		Bool:  func(v any) bool { return v.(bool) },
		Write: func(o *text.Text, v any) error { o.Str(strconv.FormatBool(v.(bool))); return nil },
		JSON:  func(v any) any { return v },
	}
	*IntegerType = Type{
		Name:  "Integer",
		Write: func(o *text.Text, v any) error { o.Str(strconv.FormatInt(v.(int64), 10)); return nil },
		JSON:  func(v any) any { return v },
	}
	*EmailType, *SignatureType, *TimestampType, *RangeType = emailType(), signatureType(), timestampType(), rangeType()
	*SizeHintType, *PathType, *ConfigType, *CapturesType = sizeHintType(), pathType(), configType(), capturesType()
	IntegerOpt, PathOpt, ConfigOpt = Option(IntegerType), Option(PathType), Option(ConfigType)
	StringList, BytesList = List(StringType, " "), List(BytesType, " ")
}

// Email is an address as a value of its own, so that it prints in parts.
type Email string

// Split is the part before the first "@" and the part after it.
func (e Email) Split() (local, domain string, at bool) { return strings.Cut(string(e), "@") }

func writeEmail(o *text.Text, e Email) {
	local, domain, at := e.Split()
	o.Label("local", local)
	if at {
		o.Str("@")
		o.Label("domain", domain)
	}
}

func emailType() Type {
	return Type{
		Name:  "Email",
		Bool:  func(v any) bool { return v.(Email) != "" },
		Write: func(o *text.Text, v any) error { writeEmail(o, v.(Email)); return nil },
		JSON:  func(v any) any { return string(v.(Email)) },
		Methods: func() map[string]Method {
			return map[string]Method{
				"local":  Field(StringType, func(e Email) any { l, _, _ := e.Split(); return l }),
				"domain": Field(StringType, func(e Email) any { _, d, _ := e.Split(); return d }),
			}
		},
	}
}

func signatureType() Type {
	return Type{
		Name: "Signature",
		Write: func(o *text.Text, v any) error {
			s := v.(repo.Signature)
			o.Label("name", s.Name)
			if s.Name != "" && s.Email != "" {
				o.Str(" ")
			}
			if s.Email != "" {
				o.Str("<")
				writeEmail(o, Email(s.Email))
				o.Str(">")
			}
			return nil
		},
		JSON: func(v any) any {
			s := v.(repo.Signature)
			return Object{{"name", s.Name}, {"email", s.Email}, {"timestamp", RFC3339(s.When)}}
		},
		Methods: func() map[string]Method {
			return map[string]Method{
				"name":      Field(StringType, func(s repo.Signature) any { return s.Name }),
				"email":     Field(EmailType, func(s repo.Signature) any { return Email(s.Email) }),
				"timestamp": Field(TimestampType, func(s repo.Signature) any { return s.When }),
			}
		},
	}
}

// SizeHint is a count of which perhaps only a lower bound is known.
type SizeHint struct {
	Lower int
	Exact bool
}

func sizeHintType() Type {
	return Type{
		Name: "SizeHint",
		JSON: func(v any) any {
			h := v.(SizeHint)
			if h.Exact {
				return []any{h.Lower, h.Lower}
			}
			return []any{h.Lower, nil}
		},
		Methods: func() map[string]Method {
			upper := func(h SizeHint) any {
				if !h.Exact {
					return nil
				}
				return int64(h.Lower)
			}
			return map[string]Method{
				"lower": Field(IntegerType, func(h SizeHint) any { return int64(h.Lower) }),
				"upper": Field(IntegerOpt, upper),
				"exact": Field(IntegerOpt, upper),
				"zero":  Field(BooleanType, func(h SizeHint) any { return h.Exact && h.Lower == 0 }),
			}
		},
	}
}

// FsPath is a path in the file system.
type FsPath string

func pathType() Type {
	t := Type{
		Name:  "FsPath",
		Write: func(o *text.Text, v any) error { o.Str(string(v.(FsPath))); return nil },
		JSON:  func(v any) any { return string(v.(FsPath)) },
	}
	t.Methods = func() map[string]Method {
		return map[string]Method{
			"absolute": func(b *Builder, self *Expr, call *dsl.Node) (*Expr, error) {
				if _, err := call.Expect(0, 0); err != nil {
					return nil, err
				}
				cwd := b.Lang.Cwd
				return Pure(self, PathType, func(p FsPath) any {
					if filepath.IsAbs(string(p)) {
						return p
					}
					return FsPath(filepath.Join(cwd, string(p)))
				}), nil
			},
			"relative": func(b *Builder, self *Expr, call *dsl.Node) (*Expr, error) {
				if _, err := call.Expect(0, 0); err != nil {
					return nil, err
				}
				cwd := b.Lang.Cwd
				return Pure(self, PathType, func(p FsPath) any { return FsPath(Relative(cwd, string(p))) }), nil
			},
		}
	}
	return t
}

// Relative is a path as seen from a directory, or the path itself when there
// is no way between them.
func Relative(from, to string) string {
	if rel, err := filepath.Rel(from, to); err == nil {
		return rel
	}
	return to
}

// ConfigValue is a configured value with its TOML text.
type ConfigValue struct {
	Value any
	TOML  string
}

func configType() Type {
	as := func(t *Type, want string, f func(v any) (any, bool)) Method {
		return Getter(t, func(c ConfigValue) (any, error) {
			if out, ok := f(c.Value); ok {
				return out, nil
			}
			return nil, fmt.Errorf("invalid type: %s, expected %s", describe(c.Value), want)
		})
	}
	return Type{
		Name:  "ConfigValue",
		Write: func(o *text.Text, v any) error { o.Str(v.(ConfigValue).TOML); return nil },
		JSON:  func(v any) any { return v.(ConfigValue).Value },
		Methods: func() map[string]Method {
			return map[string]Method{
				"as_boolean": as(BooleanType, "a boolean", func(v any) (any, bool) { b, ok := v.(bool); return b, ok }),
				"as_integer": as(IntegerType, "i64", func(v any) (any, bool) { i, ok := v.(int64); return i, ok }),
				"as_string":  as(StringType, "a string", func(v any) (any, bool) { s, ok := v.(string); return s, ok }),
				"as_string_list": as(StringList, "a sequence", func(v any) (any, bool) {
					list, ok := v.([]any)
					for _, x := range list {
						if _, is := x.(string); !is {
							return nil, false
						}
					}
					return list, ok
				}),
			}
		},
	}
}

func describe(v any) string {
	switch v := v.(type) {
	case bool:
		return fmt.Sprintf("boolean `%v`", v)
	case int64:
		return fmt.Sprintf("integer `%d`", v)
	case float64:
		return fmt.Sprintf("floating point `%v`", v)
	case string:
		return fmt.Sprintf("string %q", v)
	case []any:
		return "sequence"
	}
	return "map"
}

// Captures are the groups of one match of a regular expression.
type Captures struct {
	Groups []string
	Names  []string
}

func capturesType() Type {
	return Type{
		Name: "RegexCaptures",
		Methods: func() map[string]Method {
			return map[string]Method{
				"len": Field(IntegerType, func(c Captures) any { return int64(len(c.Groups)) }),
				"get": func(b *Builder, self *Expr, call *dsl.Node) (*Expr, error) {
					args, err := call.Expect(1, 1)
					if err != nil {
						return nil, err
					}
					at, err := b.Size(args[0])
					if err != nil {
						return nil, err
					}
					return Map(self, BytesType, func(c Captures) (any, error) {
						i, err := at()
						if err != nil {
							return nil, err
						}
						if i >= len(c.Groups) {
							return nil, fmt.Errorf("Could not get capture group with index %d", i)
						}
						return c.Groups[i], nil
					}), nil
				},
				"name": func(b *Builder, self *Expr, call *dsl.Node) (*Expr, error) {
					args, err := call.Expect(1, 1)
					if err != nil {
						return nil, err
					}
					name, err := b.Stringed(args[0])
					if err != nil {
						return nil, err
					}
					return Map(self, BytesType, func(c Captures) (any, error) {
						want, err := name()
						if err != nil {
							return nil, err
						}
						for i, n := range c.Names {
							if n == want && n != "" {
								return c.Groups[i], nil
							}
						}
						return nil, fmt.Errorf("Could not get capture group with name %s", want)
					}), nil
				},
			}
		},
	}
}
