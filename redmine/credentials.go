package redmine

import (
	"context"
	"net/http"
	"net/url"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/secret"
)

// credentials are those that requests have now.
type credentials struct {
	address *url.URL
	given   secret.Credentials
	resolve func(ctx context.Context, value string) (string, error) // nil if they never change
	hide    secrets
	changed func() // called when others have replaced them

	now     atomic.Pointer[identity] // nil until they were read
	reading chan struct{}            // holds a value while one request reads them
	tried   time.Time                // when they were read last
	failed  error                    // of that reading
}

// An identity is what one set of credentials adds to requests.
type identity struct {
	header http.Header
	token  bool   // of OAuth 2, which expires
	as     string // login to act as
}

// readPause is how long credentials are not read again, whether they could be read or not.
const readPause = 5 * time.Second

// read returns what was given, with what it refers to.
func (c *credentials) read(ctx context.Context) (secret.Credentials, error) {
	now := c.given
	for _, text := range now.Texts() {
		var err error
		if *text, err = c.resolve(ctx, *text); err != nil {
			return now, err
		}
	}
	return now.Trim(), nil
}

// use sets the credentials of requests.
func (c *credentials) use(o secret.Credentials) error {
	if err := o.Check(); err != nil {
		return err
	}
	password, _ := c.address.User.Password()
	c.hide.Add("", o.Key, o.Token, o.Password, password)
	id := &identity{header: http.Header{}, token: o.Token != "", as: o.As}
	id.header.Set("Accept", "application/json")
	request := &http.Request{Header: id.header}
	if c.address.User != nil { // what is before Redmine may want them beside a key
		request.SetBasicAuth(c.address.User.Username(), password)
	}
	switch {
	case o.Token != "":
		id.header.Set("Authorization", "Bearer "+o.Token)
	case o.Key != "":
		id.header.Set("X-Redmine-Api-Key", o.Key)
	case o.User != "":
		request.SetBasicAuth(o.User, o.Password)
	}
	if o.As != "" {
		id.header.Set("X-Redmine-Switch-User", o.As)
	}
	before := c.now.Load()
	if before != nil && reflect.DeepEqual(before, id) {
		return nil
	}
	if c.now.Store(id); before != nil {
		c.changed()
	}
	return nil
}

// identity returns the credentials for a request. The first request reads them.
func (c *credentials) identity(ctx context.Context) (*identity, error) {
	if id := c.now.Load(); id != nil {
		return id, nil
	}
	if err := c.update(ctx, nil); err != nil {
		return nil, err
	}
	return c.now.Load(), nil
}

// replace returns what to use in the place of credentials that Redmine refused: the same
// ones if there are no others.
func (c *credentials) replace(ctx context.Context, refused *identity) *identity {
	if c.resolve != nil {
		_ = c.update(ctx, refused) // then those of before stay
	}
	return c.now.Load()
}

// update reads the credentials, unless another request has read them in the meantime.
func (c *credentials) update(ctx context.Context, before *identity) error {
	select {
	case c.reading <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-c.reading }()
	if c.now.Load() != before || !c.tried.IsZero() && time.Since(c.tried) < readPause {
		return c.failed
	}
	o, err := c.read(ctx)
	if err == nil {
		err = c.use(o)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx) // the next request reads them
	}
	if c.tried, c.failed = time.Now(), nil; err != nil {
		c.failed = toolpost.Failed.Errorf("The credentials of Redmine cannot be read: %v. Ask the user to correct that; they are read again.", err)
	}
	return c.failed
}

// uses returns the credentials that are known, none if there are none yet.
func (c *credentials) uses() identity {
	if id := c.now.Load(); id != nil {
		return *id
	}
	return identity{}
}
