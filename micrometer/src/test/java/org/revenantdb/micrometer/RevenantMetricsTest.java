package org.revenantdb.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Statistic;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.WaitClass;

/** The meters of a database. */
class RevenantMetricsTest {
  @TempDir Path folder;

  private Database db;
  private Table table;
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

  @BeforeEach
  void open() {
    db = Database.open(folder.resolve("db"));
    table = db.createTable("t");
  }

  @AfterEach
  void close() {
    db.close();
  }

  private RevenantMetrics fresh() {
    return new RevenantMetrics(db).withFreshness(Duration.ZERO);
  }

  private void commit(int times) {
    for (int i = 0; i < times; i++) {
      db.run(tx -> tx.put(table, new byte[] {1}, new byte[100]));
    }
  }

  @Test
  void each_statistic_and_each_class_of_waits_has_a_meter_of_its_kind() {
    fresh().bindTo(registry);
    for (Statistic statistic : Statistic.values()) {
      Meter meter = registry.get(MeterName.of(statistic).name()).meter();
      assertTrue(
          statistic.kind() == Statistic.Kind.COUNTER
              ? meter instanceof FunctionCounter
              : meter instanceof Gauge,
          statistic.text());
      assertEquals(statistic.description(), meter.getId().getDescription());
    }
    for (WaitClass each : WaitClass.values()) {
      registry.get("revenant.waits").tag("class", each.text()).functionTimer();
    }
    assertEquals(
        Statistic.values().length + WaitClass.values().length, registry.getMeters().size());
  }

  @Test
  void no_two_statistics_have_one_name() {
    Set<String> names = new HashSet<>();
    for (Statistic statistic : Statistic.values()) {
      assertTrue(names.add(MeterName.of(statistic).name()), statistic.text());
    }
  }

  @Test
  void names_and_units_follow_the_conventions() {
    assertEquals(
        new MeterName("revenant.commits.durable", null, 1),
        MeterName.of(Statistic.COMMITS_DURABLE));
    assertEquals(
        new MeterName("revenant.versions.memory", "bytes", 1),
        MeterName.of(Statistic.VERSIONS_MEMORY_BYTES));
    assertEquals(
        new MeterName("revenant.commits.durable.read.wait.time", "seconds", 1e-9),
        MeterName.of(Statistic.COMMITS_DURABLE_READ_WAIT_NANOS));
    assertEquals(
        new MeterName("revenant.files.pages.read", null, 1),
        MeterName.of(Statistic.FILES_PAGES_READ));
    assertEquals(
        new MeterName("revenant.pool.leaf.dirty", "pages", 1),
        MeterName.of(Statistic.POOL_LEAF_DIRTY));
  }

  @Test
  void values_are_those_of_the_database() {
    fresh().bindTo(registry);
    double before = registry.get("revenant.commits.durable").functionCounter().count();
    commit(7);
    assertEquals(before + 7, registry.get("revenant.commits.durable").functionCounter().count());
    assertEquals(
        db.statistics().files().dataFilePages(),
        registry.get("revenant.files.data.file.pages").gauge().value());
    var forces =
        registry.get("revenant.waits").tag("class", WaitClass.LOG_FORCE.text()).functionTimer();
    assertTrue(forces.count() >= 7);
    assertTrue(forces.totalTime(TimeUnit.NANOSECONDS) > 0);
  }

  @Test
  void the_database_is_read_once_while_a_reading_is_fresh() {
    new RevenantMetrics(db).withFreshness(Duration.ofDays(1)).bindTo(registry);
    double before = registry.get("revenant.commits.durable").functionCounter().count();
    commit(3);
    assertEquals(before, registry.get("revenant.commits.durable").functionCounter().count());
  }

  @Test
  void a_closed_database_keeps_its_last_values_until_the_meters_are_removed() {
    RevenantMetrics metrics = fresh();
    metrics.bindTo(registry);
    commit(2);
    double last = registry.get("revenant.commits.durable").functionCounter().count();
    db.close();
    assertEquals(last, registry.get("revenant.commits.durable").functionCounter().count());
    metrics.close();
    assertTrue(registry.getMeters().isEmpty());
  }

  @Test
  void two_databases_are_told_apart_by_tags() {
    try (Database other = Database.open(folder.resolve("other"))) {
      new RevenantMetrics(db, Tags.of("database", "one")).bindTo(registry);
      new RevenantMetrics(other, Tags.of("database", "two")).bindTo(registry);
      assertEquals(2, registry.get("revenant.commits.durable").functionCounters().size());
    }
  }

  @Test
  void a_negative_freshness_is_refused() {
    RevenantMetrics metrics = new RevenantMetrics(db);
    assertThrows(
        IllegalArgumentException.class, () -> metrics.withFreshness(Duration.ofSeconds(-1)));
  }

  @Test
  void prometheus_sees_types_and_units() {
    PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    fresh().bindTo(prometheus);
    commit(1);
    String text = prometheus.scrape();
    assertTrue(text.contains("# TYPE revenant_commits_durable_total counter"), text);
    assertTrue(text.contains("# TYPE revenant_versions_memory_bytes gauge"), text);
    assertTrue(text.contains("revenant_commits_durable_read_wait_time_seconds_total "), text);
    assertTrue(text.contains("revenant_waits_seconds_count{class=\"log force\"} "), text);
  }

  @Test
  void the_dashboard_asks_for_meters_that_exist() throws IOException {
    PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    fresh().bindTo(prometheus);
    String scraped = prometheus.scrape();
    int expressions = 0;
    try (Reader json =
        new InputStreamReader(
            Objects.requireNonNull(
                RevenantMetrics.class.getResourceAsStream("grafana-dashboard.json")),
            StandardCharsets.UTF_8)) {
      for (JsonElement panel :
          JsonParser.parseReader(json).getAsJsonObject().getAsJsonArray("panels")) {
        for (JsonElement target : panel.getAsJsonObject().getAsJsonArray("targets")) {
          String expression = target.getAsJsonObject().get("expr").getAsString();
          Matcher names = Pattern.compile("revenant_[a-z_]+").matcher(expression);
          while (names.find()) {
            assertTrue(
                scraped.contains("\n" + names.group() + " ")
                    || scraped.contains("\n" + names.group() + "{"),
                names.group());
            expressions++;
          }
        }
      }
    }
    assertTrue(expressions > 20, "names: " + expressions);
  }
}
