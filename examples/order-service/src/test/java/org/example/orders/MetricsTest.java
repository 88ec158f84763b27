package org.example.orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;

class MetricsTest {
  @Test
  void prometheus_reads_what_the_dashboard_asks_for(@TempDir Path folder) throws Exception {
    try (Database db = Database.open(folder.resolve("db"));
        OrderService service = new OrderService(db, InstantSource.system());
        Metrics metrics = new Metrics(db, service);
        HttpClient client = HttpClient.newHttpClient()) {
      service.place("Ada", 100);
      metrics.placed();
      URI place = URI.create("http://localhost:" + metrics.serve(0) + "/metrics");
      String text =
          client.send(HttpRequest.newBuilder(place).build(), BodyHandlers.ofString()).body();
      assertTrue(text.contains("\norders_placed_total 1.0"), text);
      assertTrue(text.contains("\norders_waiting 1.0"), text);
      Set<String> asked = new TreeSet<>();
      Matcher names =
          Pattern.compile("\"expr\": \"(?:rate\\()?([a-z_]+)")
              .matcher(Files.readString(Path.of("dashboard.json")));
      while (names.find()) {
        asked.add(names.group(1));
        assertTrue(text.contains("\n" + names.group(1)), names.group(1));
      }
      assertEquals(6, asked.size(), asked::toString);
    }
  }
}
