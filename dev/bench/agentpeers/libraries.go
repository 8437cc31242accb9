package main

import (
	"context"
	"fmt"
)

// A library is one that the tasks are written for.
type library struct {
	name   string // also the beginning of the names of its files
	module string // its version is shown
	title  string

	parallel   func(ctx context.Context, url string, w *world) (*shown, error)
	structured func(ctx context.Context, url string, w *world) (string, error)
	crash      func(ctx context.Context, url, dir string, f *file) (string, error)
}

// shown is what the library's own result of a run says.
type shown struct {
	Text   string
	Tokens int
	Money  string // "" if the type has no field or method for it
}

func libraries() []*library {
	return []*library{ours(), eino(), genkitGo()}
}

func ours() *library {
	return &library{
		name: "toolpost", title: "ours",
		parallel: func(ctx context.Context, url string, w *world) (*shown, error) {
			r, err := toolpostParallel(ctx, url, w)
			if err != nil {
				return nil, err
			}
			return &shown{r.Text, r.Usage.Tokens.Context(), r.Usage.Cost.String()}, nil
		},
		structured: func(ctx context.Context, url string, w *world) (string, error) {
			order, err := toolpostStructured(ctx, url, w)
			return fmt.Sprintf("%+v", order), err
		},
		crash: func(ctx context.Context, url, dir string, f *file) (string, error) {
			r, err := toolpostCrash(ctx, url, dir, f)
			if err != nil {
				return "", err
			}
			return r.Text, nil
		},
	}
}

func eino() *library {
	return &library{
		name: "eino", module: "github.com/cloudwego/eino", title: "eino",
		parallel: func(ctx context.Context, url string, w *world) (*shown, error) {
			m, err := einoParallel(ctx, url, w)
			if err != nil {
				return nil, err
			}
			return &shown{m.Content, m.ResponseMeta.Usage.TotalTokens, ""}, nil
		},
		structured: func(ctx context.Context, url string, w *world) (string, error) {
			order, err := einoStructured(ctx, url, w)
			return fmt.Sprintf("%+v", order), err
		},
		crash: func(ctx context.Context, url, dir string, f *file) (string, error) {
			m, err := einoCrash(ctx, url, dir, f)
			if err != nil {
				return "", err
			}
			return m.Content, nil
		},
	}
}

func genkitGo() *library {
	return &library{
		name: "genkit", module: "github.com/firebase/genkit/go", title: "genkit",
		parallel: func(ctx context.Context, url string, w *world) (*shown, error) {
			r, err := genkitParallel(ctx, url, w)
			if err != nil {
				return nil, err
			}
			return &shown{r.Text(), r.Usage.TotalTokens, ""}, nil
		},
		structured: func(ctx context.Context, url string, w *world) (string, error) {
			order, err := genkitStructured(ctx, url, w)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%+v", *order), nil
		},
		crash: func(ctx context.Context, url, dir string, f *file) (string, error) {
			r, err := genkitCrash(ctx, url, dir, f)
			if err != nil {
				return "", err
			}
			return r.Text(), nil
		},
	}
}
