package org.revenantdb.collections.queue;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.BiFunction;
import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.ByteReader;
import org.revenantdb.collections.ByteWriter;
import org.revenantdb.collections.Codec;
import org.revenantdb.collections.CodecException;
import org.revenantdb.collections.Keys;
import org.revenantdb.collections.Row;
import org.revenantdb.collections.Tuple2;
import org.revenantdb.collections.TypedCursor;
import org.revenantdb.collections.TypedTable;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Isolation;
import org.revenantdb.engine.Sequence;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/**
 * The tables of a queue, and what each step does to them (see the README of the module). Each
 * method is a statement, or some, of a transaction. Thread-safe.
 *
 * @param <T> type of the items
 */
public final class QueueRows<T> {
  /**
   * Of the transaction that delivers an item: if a crash undoes it, the item is delivered again.
   */
  public static final TransactionOptions DELIVERS =
      TransactionOptions.lazy()
          .withIsolation(Isolation.SNAPSHOT)
          .withLockTimeout(Duration.ZERO)
          .withName("queue");

  /** Rows that become ready in one transaction. */
  private static final int MOST_DUE = 200;

  /** Characters of the reason of a dead letter. */
  private static final int LONGEST_REASON = 1_000;

  /** Later than any clock; sums of it and of a time are numbers. */
  private static final long END_OF_TIME = Long.MAX_VALUE / 4;

  private static final Duration LONGEST = Duration.ofMillis(END_OF_TIME);

  /** When a row is looked at again that another transaction had changed and not committed. */
  private static final long BUSY_MILLIS = 1_000;

  private record Ready(int attempts, long id) {}

  private record Parked(boolean isDelivered, int attempts, byte[] readyKey) {}

  private record Dead(int attempts, long since, String reason) {
    Dead {
      reason = stored(reason);
    }
  }

  /**
   * An item that is delivered.
   *
   * @param until when it becomes ready again
   * @param readyKey its place among those that are ready
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Leased<T>(long id, T item, int attempt, long until, byte[] readyKey) {}

  /** An item that was given up; the item is null if its codec cannot read it. */
  public record Buried<T>(long id, @Nullable T item, int attempts, long since, String reason) {}

  /**
   * What a look at the tables has found.
   *
   * @param leased the first item that is ready, which is delivered now; null if there is none
   * @param hasMore whether another one is ready
   * @param due when the first parked item is due; {@code Long.MAX_VALUE} if there is none, or if
   *     these were not read
   */
  public record Look<T>(@Nullable Leased<T> leased, boolean hasMore, long due) {}

  private final TypedTable<Long, T> items;
  private final TypedTable<byte[], Ready> ready;
  private final TypedTable<Tuple2<Long, Long>, Parked> parked;
  private final TypedTable<Long, Dead> dead;
  private final Sequence ids;
  private final BiFunction<T, Long, byte[]> readyKey;
  private final LongUnaryOperator extendedUntil;
  private final int maxAttempts;

  /**
   * Opens the tables, or creates them.
   *
   * @param readyKey the place of an item, from item and id
   * @param extendedUntil when the delivery of an item is over that was extended; else before all
   *     times. Called in a look
   * @param maxAttempts after this many deliveries it becomes a dead letter
   */
  public QueueRows(
      Database database,
      String name,
      Codec<T> codec,
      BiFunction<T, Long, byte[]> readyKey,
      LongUnaryOperator extendedUntil,
      int maxAttempts) {
    this.items = TypedTable.open(database, name, Keys.longs(), codec);
    this.ready = TypedTable.open(database, name + ".ready", Keys.rawBytes(), new ReadyCodec());
    this.parked =
        TypedTable.open(
            database, name + ".parked", Keys.tuple(Keys.longs(), Keys.longs()), new ParkedCodec());
    this.dead = TypedTable.open(database, name + ".dead", Keys.longs(), new DeadCodec());
    this.ids = database.getOrCreateSequence(name + ".ids");
    this.readyKey = readyKey;
    this.extendedUntil = extendedUntil;
    this.maxAttempts = maxAttempts;
  }

  /** Adds an item; returns its id. */
  public long add(Transaction tx, T item, boolean isReady, long due) {
    long id = ids.next(Durability.LAZY);
    byte[] key = readyKey.apply(item, id);
    items.put(tx, id, item);
    try {
      if (isReady) {
        ready.put(tx, key, new Ready(0, id));
      } else {
        parked.put(tx, Tuple2.of(due, id), new Parked(/* isDelivered= */ false, 0, key));
      }
    } catch (RuntimeException refused) { // the key of the order is too long
      boolean _ = items.delete(tx, id);
      throw refused;
    }
    return id;
  }

  /**
   * Makes those ready that are due, and delivers the first item that is ready.
   *
   * @param tx which begins with this, and is committed behind it
   * @param readsParked whether one may be due
   */
  public Look<T> look(Transaction tx, long now, long visibility, boolean readsParked) {
    long due = readsParked ? ripen(tx, now) : Long.MAX_VALUE;
    while (true) {
      Row<byte[], Ready> first = null;
      boolean hasMore = false;
      try (TypedCursor<byte[], Ready> cursor = ready.scan(tx).limit(2).cursor()) {
        if (cursor.next()) {
          first = new Row<>(cursor.key(), cursor.value());
          hasMore = cursor.next();
        }
      }
      if (first == null) {
        return new Look<>(null, /* hasMore= */ false, due);
      }
      Leased<T> leased = lease(tx, first.key(), first.value(), now, visibility);
      if (leased != null) {
        return new Look<>(leased, hasMore, due);
      }
    }
  }

  private @Nullable Leased<T> lease(
      Transaction tx, byte[] key, Ready row, long now, long visibility) {
    boolean _ = ready.delete(tx, key);
    int attempt = row.attempts + 1;
    T item;
    try {
      item = items.get(tx, row.id);
    } catch (CodecException unreadable) {
      dead.put(tx, row.id, new Dead(attempt, now, text(unreadable)));
      return null;
    }
    if (item == null) { // another transaction has deleted the row
      return null;
    }
    long until = plus(now, visibility);
    parked.put(tx, Tuple2.of(until, row.id), new Parked(/* isDelivered= */ true, attempt, key));
    return new Leased<>(row.id, item, attempt, until, key);
  }

  /** Makes those ready that are due; returns when the next one is. */
  private long ripen(Transaction tx, long now) {
    int count = 0;
    boolean isBusy = false;
    long next = Long.MAX_VALUE;
    long extension = Long.MAX_VALUE;
    try (TypedCursor<Tuple2<Long, Long>, Parked> cursor = parked.scan(tx).cursor()) {
      while (cursor.next()) {
        Tuple2<Long, Long> key = cursor.key();
        if (key.first() > now || count == MOST_DUE) {
          next = key.first();
          break;
        }
        long longer = cursor.value().isDelivered ? extendedUntil.applyAsLong(key.second()) : now;
        if (longer > now) {
          extension = Math.min(extension, longer);
        } else if (ripen(tx, key, cursor.value(), now)) {
          count++;
        } else {
          isBusy = true;
        }
      }
    }
    return Math.min(extension, isBusy ? Math.min(next, now + BUSY_MILLIS) : next);
  }

  private boolean ripen(Transaction tx, Tuple2<Long, Long> key, Parked row, long now) {
    try {
      if (!parked.delete(tx, key)) {
        return true;
      }
    } catch (ConflictException acknowledged) {
      return false; // by a transaction that is open, or has just committed
    }
    if (row.isDelivered && row.attempts >= maxAttempts) {
      dead.put(tx, key.second(), new Dead(row.attempts, now, "it was not acknowledged in time"));
    } else {
      ready.put(tx, row.readyKey, new Ready(row.attempts, key.second()));
    }
    return true;
  }

  /** Returns all delivered items: their consumers died with their process. */
  public void takeBack(Transaction tx, long now) {
    try (TypedCursor<Tuple2<Long, Long>, Parked> cursor = parked.scan(tx).cursor()) {
      while (cursor.next()) {
        Parked row = cursor.value();
        if (row.isDelivered) {
          boolean _ = ripen(tx, cursor.key(), row, now);
        }
      }
    }
  }

  /** Removes an item that is delivered; false if it is not any more. */
  public boolean remove(Transaction tx, Leased<T> leased) {
    if (!parked.delete(tx, Tuple2.of(leased.until, leased.id))) {
      return false;
    }
    boolean _ = items.delete(tx, leased.id);
    return true;
  }

  /** Gives an item back, or up; false if it is not delivered any more. */
  public boolean giveBack(Transaction tx, Leased<T> leased, long due, long now, String reason) {
    if (!parked.delete(tx, Tuple2.of(leased.until, leased.id))) {
      return false;
    }
    if (leased.attempt >= maxAttempts) {
      dead.put(tx, leased.id, new Dead(leased.attempt, now, reason));
    } else {
      parked.put(
          tx,
          Tuple2.of(due, leased.id),
          new Parked(/* isDelivered= */ false, leased.attempt, leased.readyKey));
    }
    return true;
  }

  /** Whether an item is still delivered as it was. */
  public boolean isDelivered(Transaction tx, Leased<T> leased) {
    return parked.contains(tx, Tuple2.of(leased.until, leased.id));
  }

  /** How many items are ready, parked or delivered. */
  public long size(Transaction tx) {
    return ready.scan(tx).count() + parked.scan(tx).count();
  }

  /** Those that were given up, by id. */
  public Stream<Buried<T>> buried(Transaction tx) {
    return dead.scan(tx).stream()
        .map(row ->
            new Buried<>(
                row.key(),
                readable(tx, row.key()),
                row.value().attempts,
                row.value().since,
                row.value().reason));
  }

  private @Nullable T readable(Transaction tx, long id) {
    try {
      return items.get(tx, id);
    } catch (CodecException unreadable) {
      return null;
    }
  }

  /** Makes an item ready that was given up, with all its attempts; false if it is not there. */
  public boolean revive(Transaction tx, long id) {
    T item = dead.contains(tx, id) ? items.get(tx, id) : null;
    if (item == null) {
      return false;
    }
    boolean _ = dead.delete(tx, id);
    ready.put(tx, readyKey.apply(item, id), new Ready(0, id));
    return true;
  }

  /** Removes an item that was given up; false if it is not there. */
  public boolean discard(Transaction tx, long id) {
    boolean was = dead.delete(tx, id);
    return was && items.delete(tx, id);
  }

  /** A failure in a word or a sentence. */
  public static String text(Throwable failure) {
    try {
      return failure.toString();
    } catch (RuntimeException itself) { // of the user's own class
      return failure.getClass().getName();
    }
  }

  /** A reason as it can be stored: of a bounded length, and without half characters. */
  private static String stored(String reason) {
    String cut = reason.length() <= LONGEST_REASON ? reason : reason.substring(0, LONGEST_REASON);
    return new String(cut.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }

  /** A time and a duration in milliseconds; the end of time if that is beyond. */
  public static long plus(long time, long millis) {
    long sum = time + millis;
    return millis > 0 && sum < time ? END_OF_TIME : Math.min(sum, END_OF_TIME);
  }

  /** Milliseconds; the end of time if they are more. */
  public static long millis(Duration duration) {
    return duration.compareTo(LONGEST) >= 0 ? END_OF_TIME : duration.toMillis();
  }

  private static final class ReadyCodec implements Codec<Ready> {
    @Override
    public void encode(Ready value, ByteWriter out) {
      out.writeVarLong(value.attempts);
      out.writeVarLong(value.id);
    }

    @Override
    public Ready decode(ByteReader in) {
      return new Ready((int) in.readVarLong(), in.readVarLong());
    }
  }

  private static final class ParkedCodec implements Codec<Parked> {
    @Override
    public void encode(Parked value, ByteWriter out) {
      out.writeByte(value.isDelivered ? 1 : 0);
      out.writeVarLong(value.attempts);
      out.writeBytes(value.readyKey);
    }

    @Override
    public Parked decode(ByteReader in) {
      return new Parked(in.readByte() == 1, (int) in.readVarLong(), in.readBytes(in.remaining()));
    }
  }

  private static final class DeadCodec implements Codec<Dead> {
    @Override
    public void encode(Dead value, ByteWriter out) {
      out.writeVarLong(value.attempts);
      out.writeLong(value.since);
      out.writeUtf8(value.reason);
    }

    @Override
    public Dead decode(ByteReader in) {
      return new Dead((int) in.readVarLong(), in.readLong(), in.readUtf8(in.remaining()));
    }
  }
}
