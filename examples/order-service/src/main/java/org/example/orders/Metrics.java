package org.example.orders;

import com.sun.net.httpserver.HttpServer;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.revenantdb.engine.Database;
import org.revenantdb.micrometer.RevenantMetrics;

/**
 * What the dashboard ({@code dashboard.json}, for Grafana) shows: the service's own meters, and
 * those of its database. Prometheus reads them at {@code /metrics}.
 */
public final class Metrics implements AutoCloseable {
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final RevenantMetrics ofDatabase;
  private final Counter placed;
  private final Counter published;
  private HttpServer server;

  public Metrics(Database db, OrderService service) {
    ofDatabase = new RevenantMetrics(db);
    ofDatabase.bindTo(registry);
    placed =
        Counter.builder("orders.placed").description("orders that were placed").register(registry);
    published =
        Counter.builder("orders.published")
            .description("messages that the outbox has published")
            .register(registry);
    Gauge.builder("orders.waiting", service, OrderService::waitingToShip)
        .description("orders that were not shipped yet")
        .register(registry);
  }

  public void placed() {
    placed.increment();
  }

  /** A publisher that counts. */
  public OrderService.Publisher counting(OrderService.Publisher publisher) {
    return (id, order, state) -> {
      publisher.publish(id, order, state);
      published.increment();
    };
  }

  /** The text that Prometheus reads. */
  public String text() {
    return registry.scrape();
  }

  /** Serves the text on this machine only; returns the port, which is free if 0 is asked for. */
  public int serve(int port) {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    } catch (IOException e) {
      throw new UncheckedIOException("port " + port + ": " + e.getMessage(), e);
    }
    server.createContext(
        "/metrics",
        exchange -> {
          byte[] text = text().getBytes(StandardCharsets.UTF_8);
          exchange.getResponseHeaders().add("Content-Type", "text/plain; version=0.0.4");
          exchange.sendResponseHeaders(200, text.length);
          try (var body = exchange.getResponseBody()) {
            body.write(text);
          }
        });
    server.start();
    return server.getAddress().getPort();
  }

  @Override
  public void close() {
    if (server != null) {
      server.stop(0);
    }
    ofDatabase.close();
    registry.close();
  }
}
