package cli

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// mistakes lists everything that is wrong with the flags of a command and the
// settings, wherever they come from, in one error.
func mistakes(flags []*kong.Flag, s *Settings) error {
	var wrong []string
	for _, f := range flags {
		if err := mistake(f); err != nil {
			wrong = append(wrong, fmt.Sprintf("--%s (%s): %v", f.Name, strings.Join(f.Envs, ", "), err))
		}
	}
	wrong = append(wrong, s.conflicts()...)
	switch len(wrong) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s", wrong[0])
	}
	return fmt.Errorf("%d settings cannot be used:\n  %s", len(wrong), strings.Join(wrong, "\n  "))
}

// mistake is what is wrong with one flag: the reason its type kept, or a value
// that is not among its choices.
func mistake(f *kong.Flag) error {
	if !f.Target.CanAddr() {
		return nil // kong's own, such as --help
	}
	if p, ok := reflect.TypeAssert[problem](f.Target.Addr()); ok {
		return p.problem()
	}
	choices := f.Tag.Get("choice")
	if choices == "" || slices.Contains(strings.Split(choices, ","), f.Target.String()) {
		return nil
	}
	return fmt.Errorf("%q is none of %s", f.Target.String(), strings.ReplaceAll(choices, ",", ", "))
}

// verbatim takes a text as it was given: file names need not be UTF-8, which
// the parser's own way over JSON would make of them.
func verbatim(ctx *kong.DecodeContext, target reflect.Value) error {
	token, err := ctx.Scan.PopValue("text")
	if err != nil {
		return err
	}
	target.SetString(fmt.Sprint(token.Value))
	return nil
}

// negatives joins numbers below 0 with their flags: no flag of ours begins with
// a digit, and their types say what is wrong with them.
func negatives(args []string) []string {
	var joined []string
	for i, arg := range args {
		if arg == "--" {
			return append(joined, args[i:]...)
		}
		last := len(joined) - 1
		if last >= 0 && strings.HasPrefix(joined[last], "--") && !strings.Contains(joined[last], "=") &&
			len(arg) > 1 && arg[0] == '-' && arg[1] >= '0' && arg[1] <= '9' {
			joined[last] += "=" + arg
			continue
		}
		joined = append(joined, arg)
	}
	return joined
}
