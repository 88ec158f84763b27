package org.revenantdb.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.Statistic;
import org.revenantdb.engine.WaitClass;
import org.revenantdb.engine.Waits;

/**
 * Binds all statistics of a database, and what its threads wait for, to a registry of Micrometer.
 *
 * {@snippet :
 * new RevenantMetrics(db).bindTo(registry);
 * }
 *
 * <p>A counter of {@link Statistic} becomes a {@link FunctionCounter}, a gauge a {@link Gauge},
 * with the description and unit of the statistic. Names begin with {@code revenant}: {@code
 * commits.durable} is {@code revenant.commits.durable}, and {@code versions.memoryBytes} is {@code
 * revenant.versions.memory} in bytes. Times are in seconds. The waits are one {@link
 * FunctionTimer}, {@code revenant.waits}, with the tag {@code class}.
 *
 * <p>All meters of one scrape come from one reading of the database. A reading is at most as old as
 * {@link #withFreshness} allows. After the database is closed, each meter keeps its last value
 * until {@link #close}.
 *
 * <p>Threads: any.
 */
public final class RevenantMetrics implements MeterBinder, AutoCloseable {
  private static final String WAITS = "revenant.waits";

  private static final Duration FRESHNESS = Duration.ofSeconds(1);

  private final Database database;
  private final Tags tags;
  private final long freshNanos;
  private final List<Bound> bound = new CopyOnWriteArrayList<>();

  private volatile Reading reading;

  private record Bound(MeterRegistry registry, Meter meter) {}

  /** The counters of the database at one time. */
  private record Reading(DatabaseStatistics statistics, Waits waits, long nanoTime) {}

  /**
   * Meters of a database, without tags of their own.
   *
   * @param database the database, which is open
   */
  public RevenantMetrics(Database database) {
    this(database, List.of());
  }

  /**
   * Meters of a database with tags, for an application that has several.
   *
   * @param database the database, which is open
   * @param tags for all meters, such as {@code database=orders}
   */
  public RevenantMetrics(Database database, Iterable<Tag> tags) {
    this(database, Tags.of(tags), FRESHNESS);
  }

  private RevenantMetrics(Database database, Tags tags, Duration freshness) {
    this.database = Objects.requireNonNull(database, "database must not be null");
    this.tags = tags;
    this.freshNanos = freshness.toNanos();
    this.reading = read();
  }

  /**
   * Sets for how long a reading of the database is used again. A reading visits each frame of the
   * pool.
   *
   * @param value from zero, which means a reading for each meter; default one second
   * @return other meters, bound to nothing
   * @throws IllegalArgumentException if it is negative
   */
  public RevenantMetrics withFreshness(Duration value) {
    if (value.isNegative()) {
      throw new IllegalArgumentException("freshness must not be negative, but is " + value);
    }
    return new RevenantMetrics(database, tags, value);
  }

  /** Registers all meters. They stay until {@link #close}. */
  @Override
  public void bindTo(MeterRegistry registry) {
    for (Statistic statistic : Statistic.values()) {
      bound.add(new Bound(registry, bind(registry, statistic)));
    }
    for (WaitClass each : WaitClass.values()) {
      bound.add(new Bound(registry, bind(registry, each)));
    }
  }

  private Meter bind(MeterRegistry registry, Statistic statistic) {
    MeterName name = MeterName.of(statistic);
    @Nullable String unit = name.unit();
    return switch (statistic.kind()) {
      case COUNTER ->
          FunctionCounter.builder(name.name(), this, it -> it.value(statistic) * name.factor())
              .description(statistic.description())
              .baseUnit(unit)
              .tags(tags)
              .register(registry);
      case GAUGE ->
          Gauge.builder(name.name(), this, it -> it.value(statistic) * name.factor())
              .description(statistic.description())
              .baseUnit(unit)
              .tags(tags)
              .strongReference(true)
              .register(registry);
    };
  }

  private Meter bind(MeterRegistry registry, WaitClass waitClass) {
    return FunctionTimer.builder(
            WAITS,
            this,
            it -> it.now().waits.of(waitClass).count(),
            it -> it.now().waits.of(waitClass).totalNanos(),
            TimeUnit.NANOSECONDS)
        .description("waits of threads in the engine, by what they wait for")
        .tags(tags.and("class", waitClass.text()))
        .register(registry);
  }

  private double value(Statistic statistic) {
    return now().statistics.value(statistic);
  }

  /** Returns a reading that is fresh enough. If two threads need a new one, both may make it. */
  private Reading now() {
    Reading last = reading;
    if (System.nanoTime() - last.nanoTime < freshNanos) {
      return last;
    }
    try {
      Reading next = read();
      reading = next;
      return next;
    } catch (DatabaseClosedException closed) {
      return last;
    }
  }

  private Reading read() {
    return new Reading(database.statistics(), database.waitStatistics(), System.nanoTime());
  }

  /** Removes all meters from the registries that they are bound to. */
  @Override
  public void close() {
    for (Bound one : bound) {
      one.registry.remove(one.meter);
    }
    bound.clear();
  }
}
