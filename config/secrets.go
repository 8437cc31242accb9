package config

// Secrets returns the values of the configuration that are probably secret, also those of
// environment variables that it refers to, so that they can be hidden in what is written.
func (c *Config) Secrets() []string {
	all := append([]string(nil), c.fromEnvironment...)
	for i := range c.Servers {
		all = append(all, c.Servers[i].Secrets()...)
	}
	for i := range c.Profiles {
		all = append(all, c.Profiles[i].Token)
	}
	if a := c.Access; a != nil && a.Introspection != nil {
		all = append(all, a.Introspection.ClientSecret)
	}
	return all
}

// Secrets returns the values of s that are probably secret.
func (s *Server) Secrets() []string {
	all := s.Config.Secrets()
	if a := s.Auth; a != nil {
		all = append(all, a.ClientSecret, a.Exchange.ClientSecret, a.Exchange.SubjectToken)
	}
	if o := s.Source; o != nil {
		all = append(all, o.Key, o.Password, o.Token)
	}
	return all
}
