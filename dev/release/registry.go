package main

// registryServers are the servers that the program has, as the MCP registry knows them.
var registryServers = []registryServer{{id: "toolpost"}, {id: "redmine"}}

// A registryServer is a server of the MCP registry.
type registryServer struct{ id string }

// registryName returns the name of a server in the MCP registry.
func registryName(id string) string { return "io.github.toolpost/" + id }
