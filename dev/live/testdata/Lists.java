// Lists everything, and calls tools, with the Java SDK: Lists CALLS URL... A line
// for each address.
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.spec.McpSchema;
import java.time.Duration;
import java.util.*;
import java.util.function.Supplier;

public class Lists {
    public static void main(String[] args) throws Exception {
        var json = new ObjectMapper();
        for (int i = 1; i < args.length; i++) {
            var errors = new TreeMap<String, String>();
            var names = new TreeMap<String, List<String>>();
            var answer = new TreeMap<String, Object>(Map.of("url", args[i], "errors", errors, "names", names));
            var at = java.net.URI.create(args[i]);
            var transport = HttpClientStreamableHttpTransport.builder(at.getScheme() + "://" + at.getAuthority()).endpoint(at.getPath()).build();
            try (var client = McpClient.sync(transport).requestTimeout(Duration.ofSeconds(30)).initializationTimeout(Duration.ofSeconds(30)).build()) {
                client.initialize();
                list("tools", names, errors, () -> client.listTools().tools().stream().map(McpSchema.Tool::name).toList());
                list("prompts", names, errors, () -> client.listPrompts().prompts().stream().map(McpSchema.Prompt::name).toList());
                list("resources", names, errors, () -> client.listResources().resources().stream().map(McpSchema.Resource::uri).toList());
                list("resourceTemplates", names, errors, () -> client.listResourceTemplates().resourceTemplates().stream().map(McpSchema.ResourceTemplate::uriTemplate).toList());
                for (var call : json.readTree(args[0].replace("SERVER", args[i].substring(args[i].lastIndexOf("/p") + 2)))) {
                    try {
                        var result = client.callTool(new McpSchema.CallToolRequest(call.get("name").asText(), Map.of()));
                        answer.put("last", result.content().isEmpty() ? "" : ((McpSchema.TextContent) result.content().get(0)).text());
                    } catch (Exception e) {
                        answer.put("last", String.valueOf(e.getMessage()));
                    }
                }
            } catch (Exception e) {
                errors.put("connect", String.valueOf(e.getMessage()));
            }
            System.out.println(json.writeValueAsString(answer));
        }
        System.exit(0);
    }

    static void list(String key, Map<String, List<String>> names, Map<String, String> errors, Supplier<List<String>> get) {
        try {
            names.put(key, get.get());
        } catch (Exception e) {
            errors.put(key, String.valueOf(e.getMessage()));
        }
    }
}
