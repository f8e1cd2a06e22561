package template

import (
	"cmp"
	"errors"
	"math"

	"tandem/internal/repo/dsl"
)

func (b *Builder) unary(n *dsl.Node) (*Expr, error) {
	if n.Op == "!" {
		arg, err := b.Bool(n.Args[0])
		if err != nil {
			return nil, err
		}
		return Value(BooleanType, func() (any, error) { v, err := arg(); return !v, err }), nil
	}
	arg, err := b.Int(n.Args[0])
	if err != nil {
		return nil, err
	}
	return Value(IntegerType, func() (any, error) {
		v, err := arg()
		if err == nil && v == math.MinInt64 {
			err = errors.New("Attempt to negate with overflow")
		}
		return -v, err
	}), nil
}

func (b *Builder) binary(n *dsl.Node) (*Expr, error) {
	switch n.Op {
	case "||", "&&":
		l, err := b.Bool(n.Args[0])
		if err != nil {
			return nil, err
		}
		r, err := b.Bool(n.Args[1])
		if err != nil {
			return nil, err
		}
		or := n.Op == "||"
		return Value(BooleanType, func() (any, error) {
			v, err := l()
			if err != nil || v == or {
				return v, err
			}
			v, err = r()
			return v, err
		}), nil
	case "==", "!=", ">=", ">", "<=", "<":
		return b.compare(n)
	}
	l, err := b.Int(n.Args[0])
	if err != nil {
		return nil, err
	}
	r, err := b.Int(n.Args[1])
	if err != nil {
		return nil, err
	}
	op := string(n.Op)
	return Value(IntegerType, func() (any, error) {
		x, err := l()
		if err != nil {
			return nil, err
		}
		y, err := r()
		if err != nil {
			return nil, err
		}
		return arithmetic(op, x, y)
	}), nil
}

func arithmetic(op string, x, y int64) (any, error) {
	switch op {
	case "+":
		if s := x + y; (s > x) == (y > 0) {
			return s, nil
		}
		return nil, errors.New("Attempt to add with overflow")
	case "-":
		if s := x - y; (s < x) == (y > 0) {
			return s, nil
		}
		return nil, errors.New("Attempt to subtract with overflow")
	case "*":
		if x == 0 || y == 0 {
			return int64(0), nil
		}
		if s := x * y; s/y == x && !(x == -1 && y == math.MinInt64) && !(y == -1 && x == math.MinInt64) {
			return s, nil
		}
		return nil, errors.New("Attempt to multiply with overflow")
	}
	if y == 0 {
		return nil, errors.New("Attempt to divide by zero")
	}
	if x == math.MinInt64 && y == -1 {
		return nil, errors.New("Attempt to divide with overflow")
	}
	if op == "/" {
		return x / y, nil
	}
	return x % y, nil
}

// compare builds ==, != and the orderings over the types that have them.
func (b *Builder) compare(n *dsl.Node) (*Expr, error) {
	l, err := b.Build(n.Args[0])
	if err != nil {
		return nil, err
	}
	r, err := b.Build(n.Args[1])
	if err != nil {
		return nil, err
	}
	order := n.Op != "==" && n.Op != "!="
	if !canCompare(l.Type, r.Type, order) {
		return nil, dsl.Exprf(n.Span, "Cannot compare expressions of type `%s` and `%s`", l.Type.Name, r.Type.Name)
	}
	op := string(n.Op)
	return Value(BooleanType, func() (any, error) {
		x, err := l.Eval()
		if err != nil {
			return nil, err
		}
		y, err := r.Eval()
		if err != nil {
			return nil, err
		}
		if !order {
			return (plain(x) == plain(y)) == (op == "=="), nil
		}
		c := cmp.Compare(rank(x), rank(y))
		if c == 0 && x != nil && y != nil {
			c = cmp.Compare(x.(int64), y.(int64))
		}
		switch op {
		case ">=":
			return c >= 0, nil
		case ">":
			return c > 0, nil
		case "<=":
			return c <= 0, nil
		}
		return c < 0, nil
	}), nil
}

// rank puts "no value" before every value.
func rank(v any) int {
	if v == nil {
		return 0
	}
	return 1
}

func plain(v any) any {
	switch v := v.(type) {
	case Email:
		return string(v)
	case interface{ Word() string }:
		return v.Word()
	}
	return v
}

func canCompare(l, r *Type, order bool) bool {
	num := func(t *Type) bool { return t == IntegerType || t == IntegerOpt }
	if num(l) && num(r) {
		return true
	}
	if order {
		return false
	}
	str := func(t *Type) bool { return t == StringType || t == BytesType }
	switch {
	case str(l) && str(r), l == BooleanType && r == BooleanType:
		return true
	case l == EmailType && (r == EmailType || r == StringType), l == StringType && r == EmailType:
		return true
	case l.Same && l == r, l.Worded && (r == StringType || r.Worded), r.Worded && l == StringType:
		return true
	}
	return false
}
