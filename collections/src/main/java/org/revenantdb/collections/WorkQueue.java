package org.revenantdb.collections;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.queue.QueueRows;
import org.revenantdb.collections.queue.WaitingRoom;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.DatabaseStoppedException;
import org.revenantdb.engine.Transaction;

/**
 * A durable queue of work. Items are offered in transactions, delivered to one consumer each, and
 * removed when the consumer acknowledges them.
 *
 * {@snippet :
 * WorkQueue<String> mails = WorkQueue.open(db, "mails", Codecs.strings());
 * db.run(tx -> {
 *   orders.put(tx, 1L, order);
 *   mails.offer(tx, "order 1"); // with the order, or not at all
 * });
 * mails.consume(8, (tx, mail) -> sent.put(tx, mail.id(), mail.item()));
 * }
 *
 * <p><b>Delivery.</b> A delivered item is invisible to other consumers for the {@linkplain
 * WorkQueueOptions#visibility visibility time}. If it is not acknowledged by then, or if the
 * process dies, it is delivered again: at least once. If work and acknowledgement are one
 * transaction, as in {@link #consume} and {@link #process}, the work is done exactly once.
 *
 * <p><b>Order.</b> Items are delivered in the order in which they were offered, or by a key ({@link
 * #ordered}). With several consumers, delays and retries the work may end in another order.
 *
 * <p><b>Waiting.</b> {@link #take} wakes up when another transaction of this process commits an
 * item. Waiting consumers cost no processor time, with one exception: every 30 seconds one of them
 * checks whether the database is still open. An item whose transaction is committed by {@link
 * Database#commitPrepared} is noticed at that check at the latest.
 *
 * <p><b>Threads.</b> Thread-safe. A queue that is opened twice is the same queue.
 *
 * @param <T> type of the items
 */
public final class WorkQueue<T> implements AutoCloseable {
  private static final long LONGEST_RETRY = TimeUnit.HOURS.toMillis(1);

  /** The pause of a consumer after a failure outside of its work. */
  private static final long AFTER_FAILURE = TimeUnit.SECONDS.toNanos(1);

  /** Longer waits count as unlimited, in nanoseconds. */
  private static final Duration LONGEST_WAIT = Duration.ofDays(36_500);

  private final Database database;
  private final String name;
  private final WorkQueueOptions options;
  private final QueueRows<T> rows;
  private final WaitingRoom room;
  private final List<Thread> consumers = new ArrayList<>();
  private volatile boolean isClosed;

  /**
   * The work of a consumer for an item.
   *
   * @param <T> type of the items
   */
  @FunctionalInterface
  public interface Work<T> {
    /**
     * Does the work. The item is acknowledged by the same transaction afterwards, unless this
     * throws. It can be called more than once for a delivery, as {@link Database#run} does after a
     * conflict.
     *
     * @param transaction which does the work
     * @param delivery the item
     * @throws Exception if the item has to be delivered again
     */
    void perform(Transaction transaction, Delivery<T> delivery) throws Exception;
  }

  private WorkQueue(
      Database database,
      String name,
      Codec<T> codec,
      WorkQueueOptions options,
      BiFunction<T, Long, byte[]> readyKey) {
    this.database = Objects.requireNonNull(database, "database must not be null");
    this.name = Objects.requireNonNull(name, "name must not be null");
    this.options = Objects.requireNonNull(options, "options must not be null");
    Objects.requireNonNull(codec, "codec must not be null");
    this.room = WaitingRoom.of(database, name);
    this.rows =
        new QueueRows<>(
            database, name, codec, readyKey, room::extendedUntil, options.maxAttempts());
  }

  /**
   * Opens a queue in which the first item that was offered is delivered first. Creates its tables
   * if there are none; they have its name, and its name with a suffix.
   *
   * @param database where it is
   * @param name its name
   * @param codec codec of the items
   * @param <T> type of the items
   * @return the queue
   */
  public static <T> WorkQueue<T> open(Database database, String name, Codec<T> codec) {
    return open(database, name, codec, WorkQueueOptions.defaults());
  }

  /**
   * As {@link #open(Database, String, Codec)}, with options.
   *
   * @param database where it is
   * @param name its name
   * @param codec codec of the items
   * @param options how it delivers
   * @param <T> type of the items
   * @return the queue
   */
  public static <T> WorkQueue<T> open(
      Database database, String name, Codec<T> codec, WorkQueueOptions options) {
    return ordered(database, name, codec, Keys.ints(), _ -> 0, options);
  }

  /**
   * Opens a queue in which the item with the smallest key is delivered first. Items with the same
   * key are delivered as they were offered.
   *
   * @param database where it is
   * @param name its name
   * @param codec codec of the items
   * @param keys codec of the keys; {@link KeyCodec#descending} for priorities
   * @param keyOf the key of an item; always the same for the same item
   * @param options how it delivers
   * @param <T> type of the items
   * @param <P> type of the keys
   * @return the queue
   */
  public static <T, P> WorkQueue<T> ordered(
      Database database,
      String name,
      Codec<T> codec,
      KeyCodec<P> keys,
      Function<? super T, ? extends P> keyOf,
      WorkQueueOptions options) {
    Tuple2.Codec<P, Long> places = Keys.tuple(keys, Keys.longs());
    BiFunction<T, Long, byte[]> readyKey =
        (item, id) -> {
          ByteWriter out = new ByteWriter();
          places.encode(Tuple2.of(keyOf.apply(item), id), out);
          return out.toByteArray();
        };
    WorkQueue<T> queue = new WorkQueue<>(database, name, codec, options, readyKey);
    queue.takeBack();
    return queue;
  }

  /** The first open of the queue returns the items that a former life had delivered. */
  private void takeBack() {
    room.lock().lock();
    try {
      if (room.isNew()) {
        database.run(QueueRows.DELIVERS, tx -> rows.takeBack(tx, now()));
        room.opened();
      }
    } finally {
      room.lock().unlock();
    }
  }

  /**
   * The name of the queue.
   *
   * @return the name
   */
  public String name() {
    return name;
  }

  Database database() {
    return database;
  }

  QueueRows<T> rows() {
    return rows;
  }

  private long now() {
    return options.clock().millis();
  }

  // ------------------------------------------------------------------------------- offering

  /**
   * Adds an item, as part of a transaction. It is delivered when the transaction has committed.
   *
   * @param transaction which offers it
   * @param item the item
   * @return its number in the queue
   */
  public long offer(Transaction transaction, T item) {
    return offer(transaction, item, Duration.ZERO);
  }

  /**
   * Adds an item that is not delivered before a delay is over.
   *
   * @param transaction which offers it
   * @param item the item
   * @param delay from now on; not negative
   * @return its number in the queue
   */
  public long offer(Transaction transaction, T item, Duration delay) {
    Objects.requireNonNull(item, "item must not be null");
    if (delay.isNegative()) {
      throw new IllegalArgumentException("delay " + delay + ": not negative");
    }
    long due = QueueRows.plus(now(), QueueRows.millis(delay));
    long id = rows.add(transaction, item, delay.isZero(), due);
    transaction.afterCommit(delay.isZero() ? room::arrived : () -> room.parked(due));
    return id;
  }

  /**
   * Adds an item, in a transaction of its own.
   *
   * @param item the item
   * @return its number in the queue
   */
  public long offer(T item) {
    return database.call(tx -> offer(tx, item));
  }

  // ------------------------------------------------------------------------------- taking

  /**
   * Takes an item. Waits until there is one, or until the queue is closed.
   *
   * @return the item, or null if the queue is closed
   * @throws InterruptedException if the thread is interrupted while it waits
   * @throws DatabaseClosedException if the database is closed
   */
  public @Nullable Delivery<T> take() throws InterruptedException {
    return take(Long.MAX_VALUE);
  }

  /**
   * Takes an item. Waits for some time until there is one.
   *
   * @param timeout how long at most; zero to return at once
   * @return the item, or null if there is none, or if the queue is closed
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  public @Nullable Delivery<T> poll(Duration timeout) throws InterruptedException {
    return take(
        timeout.compareTo(LONGEST_WAIT) >= 0 ? Long.MAX_VALUE : Math.max(0, timeout.toNanos()));
  }

  private @Nullable Delivery<T> take(long nanos) throws InterruptedException {
    room.lock().lockInterruptibly();
    try {
      if (isClosed) {
        return null;
      }
      QueueRows.Look<T> look = look();
      QueueRows.Leased<T> leased = look.leased();
      if (leased == null && nanos > 0) {
        return await(nanos);
      }
      if (look.hasMore()) {
        room.passOn();
      }
      return leased == null ? null : new Delivery<>(this, leased);
    } finally {
      room.lock().unlock();
    }
  }

  private @Nullable Delivery<T> await(long nanos) throws InterruptedException {
    long begun = System.nanoTime();
    room.enter();
    try {
      while (!isClosed) {
        QueueRows.Look<T> look = look();
        QueueRows.Leased<T> leased = look.leased();
        if (leased != null) {
          return new Delivery<>(this, leased);
        }
        long left = nanos == Long.MAX_VALUE ? nanos : nanos - (System.nanoTime() - begun);
        if (left <= 0) {
          return null;
        }
        room.sleep(left, nanosUntil(room.due()));
      }
      return null;
    } finally {
      room.leave();
    }
  }

  private long nanosUntil(long due) {
    return due == Long.MAX_VALUE ? due : TimeUnit.MILLISECONDS.toNanos(Math.max(1, due - now()));
  }

  /** Looks at the tables once, and delivers an item if there is one. Under the lock. */
  private QueueRows.Look<T> look() {
    long now = now();
    boolean readsParked = room.mayBeDue(now);
    if (readsParked) {
      room.readsParked();
    }
    long due =
        readsParked ? Long.MIN_VALUE : Long.MAX_VALUE; // if this fails, nothing was found out
    try (Transaction tx = database.begin(QueueRows.DELIVERS)) {
      long visibility = QueueRows.millis(options.visibility());
      QueueRows.Look<T> look = rows.look(tx, now, visibility, readsParked);
      tx.commit();
      QueueRows.Leased<T> leased = look.leased();
      due = leased == null ? look.due() : Math.min(look.due(), leased.until());
      return look;
    } finally {
      room.isDueAt(due);
    }
  }

  void giveBack(QueueRows.Leased<T> leased, String reason) {
    long first = Math.min(LONGEST_RETRY, QueueRows.millis(options.retryDelay()));
    long delay = Math.min(LONGEST_RETRY, first << Math.min(leased.attempt() - 1, 20));
    database.run(
        QueueRows.DELIVERS,
        tx -> {
          long due = QueueRows.plus(now(), delay);
          if (rows.giveBack(tx, leased, due, now(), reason)) {
            over(tx, leased);
            tx.afterCommit(() -> room.parked(due));
          }
        });
  }

  /** Called when a transaction ends a delivery. */
  void over(Transaction tx, QueueRows.Leased<T> leased) {
    tx.afterCommit(() -> room.over(leased.id()));
  }

  /** Extends a delivery; false if it is over. Changes no row: see {@link WaitingRoom}. */
  boolean extend(QueueRows.Leased<T> leased, Duration visibility) {
    room.lock().lock();
    try {
      room.extending();
      boolean isDelivered = database.read(tx -> rows.isDelivered(tx, leased));
      if (isDelivered) {
        room.extend(leased.id(), QueueRows.plus(now(), QueueRows.millis(visibility)));
      }
      return isDelivered;
    } finally {
      room.lock().unlock();
    }
  }

  // ------------------------------------------------------------------------------- consumers

  /**
   * Takes an item and does its work: work and acknowledgement are one transaction. If the work
   * throws, the transaction is rolled back, and the item is delivered again after a delay.
   *
   * @param work what is done
   * @return false if the queue is closed
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  public boolean process(Work<? super T> work) throws InterruptedException {
    Delivery<T> delivery = take();
    if (delivery == null) {
      return false;
    }
    perform(delivery, work);
    return true;
  }

  @SuppressWarnings("unchecked") // a delivery only returns items
  private void perform(Delivery<T> delivery, Work<? super T> work) {
    Work<T> own = (Work<T>) work;
    try {
      database.runThrowing(tx -> {
        own.perform(tx, delivery);
        delivery.acknowledge(tx);
      });
    } catch (DatabaseClosedException | DatabaseStoppedException end) {
      throw end;
    } catch (DeliveryLostException lost) {
      if (lost.isOf(delivery)) {
        return; // another consumer has the item
      }
      delivery.retry(QueueRows.text(lost));
    } catch (InterruptedException interrupted) {
      delivery.retry(QueueRows.text(interrupted));
      Thread.currentThread().interrupt();
    } catch (Exception failure) {
      delivery.retry(QueueRows.text(failure));
    } catch (Error failure) {
      delivery.retry(QueueRows.text(failure));
      throw failure;
    }
  }

  /**
   * Starts consumers, each a virtual thread that {@linkplain #process processes} items until the
   * queue or the database is closed. An {@link Error} of the work, and a failure of the queue
   * itself such as a full disk, goes to the uncaught exception handler of the thread, and the
   * consumer continues after a second.
   *
   * @param count how many work at the same time
   * @param work what is done
   */
  public void consume(int count, Work<? super T> work) {
    Objects.requireNonNull(work, "work must not be null");
    synchronized (consumers) {
      if (isClosed) {
        throw new IllegalStateException("queue " + name + " is closed; open it again");
      }
      for (int i = 0; i < count; i++) {
        consumers.add(
            Thread.ofVirtual()
                .name("revenant-queue-" + name + "-" + consumers.size())
                .start(() -> consumeAll(work)));
      }
    }
  }

  private void consumeAll(Work<? super T> work) {
    try {
      boolean isOpen = true;
      while (isOpen) {
        isOpen = processOrReport(work);
      }
    } catch (DatabaseClosedException | DatabaseStoppedException end) {
      return;
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * If one failure ended the consumer, the queue would have no consumer, and the application would
   * not notice.
   */
  private boolean processOrReport(Work<? super T> work) throws InterruptedException {
    try {
      return process(work);
    } catch (DatabaseClosedException | DatabaseStoppedException | InterruptedException end) {
      throw end;
    } catch (Throwable failure) {
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
      room.pause(AFTER_FAILURE);
      return !isClosed;
    }
  }

  /**
   * Closes this queue object: wakes all that wait in it, and waits until its consumers have
   * finished their items. The items stay in the database. Called by a consumer, it does not wait.
   */
  @Override
  public void close() {
    List<Thread> started;
    synchronized (consumers) {
      isClosed = true;
      started = List.copyOf(consumers);
    }
    room.wakeAll();
    if (started.contains(Thread.currentThread())) {
      return;
    }
    boolean wasInterrupted = false;
    for (Thread consumer : started) {
      while (true) {
        try {
          consumer.join();
          break;
        } catch (InterruptedException later) {
          wasInterrupted = true;
        }
      }
    }
    if (wasInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Wakes all waiting threads, because a clock of a test has moved. */
  void clockMoved() {
    room.wakeAll();
  }

  /** How many threads wait. */
  int waiting() {
    return room.waiting();
  }

  // ------------------------------------------------------------------------------- what is there

  /**
   * The number of items that are not acknowledged, without dead letters. Counts them.
   *
   * @param transaction which reads
   * @return the number
   */
  public long size(Transaction transaction) {
    return rows.size(transaction);
  }

  /**
   * The dead letters, by number.
   *
   * @param transaction which reads
   * @return a stream, which closes itself behind the last one
   */
  public Stream<DeadLetter<T>> deadLetters(Transaction transaction) {
    return rows.buried(transaction)
        .map(each ->
            new DeadLetter<>(
                each.id(),
                each.item(),
                each.attempts(),
                Instant.ofEpochMilli(each.since()),
                each.reason()));
  }

  /**
   * Puts a dead letter back into the queue, with all its attempts.
   *
   * @param transaction which writes
   * @param id its number
   * @return whether there was one
   */
  public boolean revive(Transaction transaction, long id) {
    boolean was = rows.revive(transaction, id);
    if (was) {
      transaction.afterCommit(room::arrived);
    }
    return was;
  }

  /**
   * Removes a dead letter.
   *
   * @param transaction which writes
   * @param id its number
   * @return whether there was one
   */
  public boolean discard(Transaction transaction, long id) {
    return rows.discard(transaction, id);
  }

  @Override
  public String toString() {
    return "WorkQueue[" + name + "]";
  }
}
