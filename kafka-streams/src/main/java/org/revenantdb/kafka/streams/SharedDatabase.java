package org.revenantdb.kafka.streams;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.internals.InternalProcessorContext;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.RevenantException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/**
 * The database of an instance of Kafka Streams. It is open from the first open store until the
 * instance begins to end and the last store is closed. Its stores find each other by the state
 * directory of the application.
 *
 * <p>Kafka Streams deletes the state of a task by deleting the task's directory. The rows are not
 * there, so each store has a marker file there, which names the incarnation of its table. A table
 * without its marker is dropped.
 *
 * <p>Threads: any.
 */
final class SharedDatabase {
  /** Where the database is, in the state directory of the application. */
  static final String DIRECTORY = "revenant";

  /**
   * Where the files of all stores of a task are, in the directory of the task. Beside it are those
   * of other stores: Kafka's own windows are in a directory with the name of their store, where
   * they take each file for a segment. No store can have this name.
   */
  private static final String STORES = "@revenant";

  /** Name of a marker file, in the directory of the store. */
  private static final String MARKER = "marker";

  /**
   * Those of the store, of the task's stores, of the task and of the application: a lost name is a
   * lost store.
   */
  private static final int DIRECTORIES = 4;

  private static final char SEPARATOR = '/';

  /** Between the name of a store's table and the number of a segment; no store has it. */
  private static final char SEGMENT = '#';

  /** A segment's table: the name of the store's table, and the number. */
  private static final Pattern SEGMENT_NAME =
      Pattern.compile("(.*)" + SEGMENT + "(-?\\d{1,18})\\z");

  /** Restored rows are gathered in the heap, up to the size of the pool divided by this. */
  private static final int PART_OF_POOL = 4;

  /** Up to the size of the heap divided by this, since the pool is not in the heap. */
  private static final int PART_OF_HEAP = 8;

  /**
   * Up to so many bytes as well. It bounds the time of the loads from memory, as {@link
   * #MOST_IN_FILES} does that of the loads from files.
   */
  private static final long MOST_IN_MEMORY = 1L << 26;

  /** A store that has gathered less does not have to give it away: its runs would be too small. */
  private static final long LEAST_GATHERED = 1 << 18;

  /**
   * Files with restored rows have at most so many bytes together. It bounds the time of the loads
   * that a thread of Kafka Streams has to make before it can go on, so it does not grow with the
   * pool.
   */
  static final long MOST_IN_FILES = 1L << 29;

  /** Between two looks for tables of tasks that have moved away, in nanoseconds. */
  static final long BETWEEN_LOOKS = Duration.ofMinutes(1).toNanos();

  private static final TransactionOptions DROPPING =
      TransactionOptions.lazy().withName("kafka-streams drop");

  private static final TransactionOptions READING =
      TransactionOptions.lazy().withReadOnly(true).withName("kafka-streams query");

  /** By state directory. Changed under its lock; metrics read it without. */
  private static final Map<Path, SharedDatabase> OPEN = new ConcurrentHashMap<>();

  /** Instances that will report their end. Guarded by {@link #OPEN}. */
  private static final Set<RunningInstance> WATCHED = new HashSet<>();

  private final Path home;
  private final Database database;

  /** By name of the task's directory. Guarded by this. */
  private final Map<String, TaskTransaction> tasks = new HashMap<>();

  /** What is known of the tables of stores, by the names of those tables. Guarded by this. */
  private final Map<String, Tables> stores = new TreeMap<>();

  /** How often the names of all tables were listed, which takes the time of all stores. */
  private int listings;

  /** When it was last looked for tables that nobody needs. */
  private final AtomicLong lastLook;

  /** The time in nanoseconds; tests choose it. */
  volatile LongSupplier clock = System::nanoTime;

  /** Stores that have it open. Guarded by {@link #OPEN}. */
  private int users;

  /** Those that have not ended. Guarded by {@link #OPEN}. */
  private final Set<RunningInstance> instances = new HashSet<>();

  /** Stores that have restored rows in memory. */
  private final AtomicInteger restoring = new AtomicInteger();

  /** Bytes of memory that these rows take. */
  private final AtomicLong gathered = new AtomicLong();

  /** Bytes of the files with restored rows. */
  private final AtomicLong inFiles = new AtomicLong();

  private final AtomicLong openIterators = new AtomicLong();
  private final AtomicLong failures = new AtomicLong();
  private final DatabaseMetrics metrics = new DatabaseMetrics(this);

  /**
   * Whether a statement has failed: the last store closes it, so that the next one opens it anew.
   */
  private volatile boolean isDoubtful;

  /** The tables of a store. */
  private static final class Tables {
    /** How many open stores have them. If none has, the task may have moved away. */
    int open;

    /**
     * The numbers of its segments, as they are committed. While the store is open, only the store
     * knows them.
     */
    NavigableSet<Long> segments = new TreeSet<>();
  }

  private SharedDatabase(Path home, Database database) {
    this.home = home;
    this.database = database;
    this.lastLook = new AtomicLong(clock.getAsLong());
    for (String name : names()) {
      if (name.indexOf(SEPARATOR) > 0) {
        Matcher segment = SEGMENT_NAME.matcher(name);
        if (segment.matches()) {
          tables(segment.group(1)).segments.add(Long.valueOf(segment.group(2)));
        } else {
          tables(name);
        }
      }
    }
  }

  private Tables tables(String name) {
    return stores.computeIfAbsent(name, none -> new Tables());
  }

  private List<String> names() {
    listings++;
    return database.tableNames();
  }

  /** For tests. */
  synchronized int listings() {
    return listings;
  }

  /**
   * The database of an application, opened if no store has it open.
   *
   * @param home state directory of the application
   * @param properties of the application
   */
  static SharedDatabase acquire(Path home, Map<String, ?> properties) {
    return acquire(
        home, () -> Database.open(home.resolve(DIRECTORY), RevenantConfig.options(properties)));
  }

  /** The same for a store of an instance, which keeps the database open while it runs. */
  static SharedDatabase acquire(Path home, StateStoreContext context) {
    SharedDatabase shared = acquire(home, context.appConfigs());
    try {
      RunningInstance instance = RunningInstance.of(context);
      if (instance != null) {
        shared.keepFor(instance);
      }
      if (context instanceof InternalProcessorContext<?, ?> internal) {
        DatabaseMetrics.addTo(internal.metrics(), key(home));
      }
    } catch (RuntimeException | LinkageError unknownVersion) {
      TaskStore.LOG.log(
          System.Logger.Level.WARNING,
          "this version of Kafka Streams does not show the state of its instance, so the last store"
              + " that is closed closes the database, and there are no metrics of the database",
          unknownVersion);
    }
    return shared;
  }

  /** The same, opened by the caller, as tests do. */
  static SharedDatabase acquire(Path home, Supplier<Database> opener) {
    Path key = key(home);
    synchronized (OPEN) {
      SharedDatabase shared = OPEN.get(key);
      if (shared == null || !shared.isUsable()) {
        Database database = opener.get();
        try {
          shared = new SharedDatabase(home, database);
          shared.tidy();
        } catch (Throwable failure) {
          database.close();
          throw failure;
        }
        OPEN.put(key, shared);
      }
      shared.users++;
      return shared;
    }
  }

  private static Path key(Path home) {
    return home.toAbsolutePath().normalize();
  }

  /** For metrics: it may be closed at any time. */
  static @Nullable SharedDatabase ifOpen(Path home) {
    return OPEN.get(key(home));
  }

  DatabaseMetrics metrics() {
    return metrics;
  }

  /**
   * Whether the next store can use it; else it is closed. One that no store had open may have
   * stopped meanwhile, and so may one in which a statement has failed. If stores have it open, they
   * are told that it is closed, and their tasks are opened again. Hold the lock.
   */
  private boolean isUsable() {
    if (users > 0 && !isDoubtful) {
      lookNowAndThen();
      return true;
    }
    try {
      if (closeIfUnused()) {
        return false;
      }
      database.sync(); // throws if the engine has stopped
      lookNowAndThen();
      return true;
    } catch (RevenantException stopped) {
      doubt();
      closeStopped();
      return false;
    }
  }

  private void closeStopped() {
    OPEN.values().remove(this);
    try {
      database.close();
    } catch (RevenantException known) {
      // It has stopped; all files are given back, and the next open recovers.
    }
  }

  /** Stays open until this instance begins to end, even if no store is open. */
  void keepFor(RunningInstance instance) {
    if (!instance.isRunning()) {
      return;
    }
    boolean isNew;
    synchronized (OPEN) {
      instances.add(instance);
      isNew = WATCHED.add(instance);
    }
    if (isNew) {
      instance.onEnd(() -> ended(instance)); // without the lock: this takes locks of Kafka
      if (!instance.isRunning()) { // the action may have come too late to be run
        ended(instance);
      }
    }
  }

  private static void ended(RunningInstance instance) {
    synchronized (OPEN) {
      WATCHED.remove(instance);
      for (SharedDatabase shared : List.copyOf(OPEN.values())) {
        if (shared.instances.remove(instance)) {
          shared.closeIfUnused();
        }
      }
    }
  }

  /** Ends one use. */
  void release() {
    synchronized (OPEN) {
      users--;
      closeIfUnused();
    }
  }

  /** Hold the lock. Returns whether it was closed. */
  private boolean closeIfUnused() {
    boolean isKept = !isDoubtful && instances.stream().anyMatch(RunningInstance::isRunning);
    if (users > 0 || isKept) {
      return false;
    }
    OPEN.values().remove(this);
    database.close();
    return true;
  }

  /** A statement has failed. The engine may have stopped, and only opening it again may help. */
  void doubt() {
    isDoubtful = true;
    failures.incrementAndGet();
  }

  /** How many statements have failed. */
  long failures() {
    return failures.get();
  }

  void iteratorOpens() {
    openIterators.incrementAndGet();
  }

  void iteratorCloses() {
    openIterators.decrementAndGet();
  }

  /** How many iterators of stores are open. */
  long openIterators() {
    return openIterators.get();
  }

  Database database() {
    return database;
  }

  boolean isDurable() {
    return database.options().durability() == Durability.DURABLE;
  }

  /** Makes what is committed durable, unless the user has chosen that it is lazy. */
  void syncIfDurable() {
    if (isDurable()) {
      database.sync();
    }
  }

  /**
   * A store has gathered more restored rows. If all stores together have too much, those that have
   * their share of it give it away.
   *
   * @param before bytes of memory that those of the store took before
   * @param now bytes that they take now
   * @return whether the store must write them now, to the table or to its file
   */
  boolean gathers(long before, long now) {
    int stores = before == 0 ? restoring.incrementAndGet() : restoring.get();
    long all = gathered.addAndGet(now - before);
    long most = mostGathered(database.options().poolBytes(), Runtime.getRuntime().maxMemory());
    // Others may keep what they have for long, so a share is less than the part of each.
    long share = all > 2 * most ? 0 : most / (2L * Math.max(1, stores));
    return all > most && now >= Math.max(share, LEAST_GATHERED);
  }

  /** Bytes of restored rows that all stores together gather in the heap before they write. */
  static long mostGathered(long poolBytes, long heapBytes) {
    return Math.min(MOST_IN_MEMORY, Math.min(poolBytes / PART_OF_POOL, heapBytes / PART_OF_HEAP));
  }

  /** A store has no restored rows in memory any more, which took so many bytes. */
  void forgets(long bytes) {
    if (bytes > 0) {
      restoring.decrementAndGet();
      gathered.addAndGet(-bytes);
    }
  }

  /**
   * Whether a store may write so many bytes of restored rows to its file. A standby task leaves
   * half of the files to active tasks, which Kafka waits for.
   */
  boolean takesFile(long bytes, boolean isActive) {
    if (inFiles.addAndGet(bytes) <= (isActive ? MOST_IN_FILES : MOST_IN_FILES / 2)) {
      return true;
    }
    inFiles.addAndGet(-bytes);
    return false;
  }

  /** A store has so many bytes less in its file. */
  void givesFile(long bytes) {
    inFiles.addAndGet(-bytes);
  }

  /** Bytes of memory that the restored rows of all stores take. */
  long gatheredBytes() {
    return gathered.get();
  }

  /** Bytes of the files with restored rows of all stores. */
  long bytesInFiles() {
    return inFiles.get();
  }

  /** A transaction that sees what is committed. */
  Transaction read() {
    return database.begin(READING);
  }

  /** The transaction that the stores of a task share. */
  synchronized TaskTransaction join(String task, TaskId id, TaskStore store) {
    TaskTransaction transaction =
        tasks.computeIfAbsent(task, name -> new TaskTransaction(this, name, id));
    transaction.join(store);
    return transaction;
  }

  synchronized void leave(TaskTransaction transaction, TaskStore store) {
    try {
      transaction.leave(store);
    } finally {
      if (transaction.isEmpty()) {
        tasks.remove(transaction.name(), transaction);
      }
    }
  }

  /**
   * The table of a store: the one that was there if its marker is there too, else a new one.
   *
   * @param task name of the task's directory
   * @param taskDirectory that directory
   * @param store name of the store
   * @param rows what they are; rows of another format are not used
   */
  synchronized Table table(String task, Path taskDirectory, String store, String rows) {
    String name = task + SEPARATOR + store;
    tables(name).open++;
    try {
      return findOrCreate(name, taskDirectory, store, rows);
    } catch (Throwable failure) {
      isNotOpened(name);
      throw failure;
    }
  }

  /** A store that was to have this table was not opened. */
  synchronized void isNotOpened(String table) {
    tables(table).open--;
  }

  /**
   * A store that had this table is closed.
   *
   * @param segments numbers of its segments, as they are committed
   */
  synchronized void isClosed(String table, Set<Long> segments) {
    Tables of = tables(table);
    of.open--;
    of.segments = new TreeSet<>(segments);
  }

  private Table findOrCreate(String name, Path taskDirectory, String store, String rows) {
    String format = StoreKeys.LAYOUT + rows;
    Path marker = marker(taskDirectory, store);
    Table found = database.findTable(name);
    if (found != null && isOf(found, marker, format) && !isCleared(found)) {
      if (!isMarked(found)) { // a process died between the two
        mark(found, marker);
      }
      return found;
    }
    // The old rows go first, and the marker comes last: whatever a crash leaves, a marker never
    // vouches for rows that it was not written for.
    for (Table segment : segments(name).values()) {
      database.dropTable(segment.name());
    }
    tables(name).segments.clear();
    database.dropTable(name);
    Table table = database.createTable(name);
    byte[] incarnation = (format + ' ' + UUID.randomUUID()).getBytes(StandardCharsets.US_ASCII);
    database.run(
        TransactionOptions.durable(), tx -> tx.put(table, StoreKeys.INCARNATION, incarnation));
    write(marker, incarnation);
    mark(table, marker);
    return table;
  }

  /** Name of the table of a segment. */
  static String segment(String table, long number) {
    return table + SEGMENT + number;
  }

  /**
   * The tables of a store's segments by their numbers, as they are committed. The store is not open
   * yet. They are looked up by their names: to list all tables for each store would make the time
   * of a start quadratic in the number of stores.
   */
  synchronized NavigableMap<Long, Table> segments(String table) {
    NavigableMap<Long, Table> segments = new TreeMap<>();
    for (Long number : isDoubtful ? listed(table) : tables(table).segments) {
      Table segment = database.findTable(segment(table, number));
      if (segment != null) {
        segments.put(number, segment);
      }
    }
    return segments;
  }

  /** After a failed commit nobody knows which segments are committed. */
  private NavigableSet<Long> listed(String table) {
    NavigableSet<Long> numbers = new TreeSet<>();
    for (String name : names()) {
      Matcher segment = SEGMENT_NAME.matcher(name);
      if (segment.matches() && segment.group(1).equals(table)) {
        numbers.add(Long.valueOf(segment.group(2)));
      }
    }
    return numbers;
  }

  private boolean isMarked(Table table) {
    return has(table, StoreKeys.MARKED);
  }

  /** Whether its rows belong to no offset: the changelog is read from its beginning. */
  private boolean isCleared(Table table) {
    return has(table, StoreKeys.CLEARED);
  }

  private boolean has(Table table, byte[] row) {
    try (Transaction tx = read()) {
      return tx.exists(table, row);
    }
  }

  /** Makes the marker durable: a power cut that takes it would take the rows as well. */
  private void mark(Table table, Path marker) {
    force(marker);
    database.run(tx -> tx.put(table, StoreKeys.MARKED, new byte[0]));
  }

  private boolean isOf(Table table, Path marker, String format) {
    byte[] marked = read(marker);
    if (marked == null || !new String(marked, StandardCharsets.US_ASCII).startsWith(format + ' ')) {
      return false;
    }
    try (Transaction tx = read()) {
      return Arrays.equals(marked, tx.get(table, StoreKeys.INCARNATION));
    }
  }

  /**
   * Drops the tables of stores whose directory is not there any more, if they are not open
   * (README.md, §64).
   */
  private synchronized void dropForgotten() {
    for (String name : List.copyOf(stores.keySet())) {
      if (tables(name).open == 0 && isForgotten(name)) {
        database.run(
            DROPPING,
            tx -> {
              segments(name).values().forEach(tx::dropTable);
              Table table = database.findTable(name);
              if (table != null) {
                tx.dropTable(table);
              }
            });
        stores.remove(name);
      }
    }
  }

  /** Where the files of the stores of a task are. */
  static Path directory(Path task) {
    return task.resolve(STORES);
  }

  /** Where the files of a store are. */
  static Path directory(Path task, String store) {
    return directory(task).resolve(store);
  }

  static Path marker(Path task, String store) {
    return directory(task, store).resolve(MARKER);
  }

  /** A marker that cannot be looked for, as after an error of the disk, may be there. */
  private boolean isForgotten(String name) {
    int task = name.indexOf(SEPARATOR);
    return Files.notExists(marker(home.resolve(name.substring(0, task)), name.substring(task + 1)));
  }

  /** A look: neither the store that is opened nor the commit fails for it. */
  private void tidy() {
    try {
      dropForgotten();
    } catch (RuntimeException failure) {
      doubt();
      TaskStore.LOG.log(
          System.Logger.Level.WARNING,
          this
              + ": tables of tasks that have moved away cannot be dropped; the next open drops them",
          failure);
    }
  }

  /**
   * Drops the tables that nobody needs, unless that was done a moment ago: a look asks the file
   * system for each idle table, and an instance opens all of its stores at its start. Do not hold
   * the lock of a task.
   */
  void lookNowAndThen() {
    long now = clock.getAsLong();
    long last = lastLook.get();
    if (now - last >= BETWEEN_LOOKS && lastLook.compareAndSet(last, now)) {
      tidy();
    }
  }

  private static byte @Nullable [] read(Path marker) {
    try {
      return Files.exists(marker) ? Files.readAllBytes(marker) : null;
    } catch (IOException e) {
      throw new ProcessorStateException(
          "the marker file " + marker + " cannot be read; check its permissions and the disk", e);
    }
  }

  private static void write(Path marker, byte[] incarnation) {
    try {
      Path directory = marker.getParent();
      if (directory != null) {
        Files.createDirectories(directory);
      }
      Files.write(marker, incarnation);
    } catch (IOException e) {
      throw notWritten(marker, e);
    }
  }

  private static void force(Path marker) {
    try {
      try (FileChannel file = FileChannel.open(marker, StandardOpenOption.WRITE)) {
        file.force(true);
      }
      Path directory = marker.getParent();
      for (int up = 0; up < DIRECTORIES && directory != null; up++) {
        try (FileChannel names = FileChannel.open(directory, StandardOpenOption.READ)) {
          names.force(true);
        }
        directory = directory.getParent();
      }
    } catch (IOException e) {
      throw notWritten(marker, e);
    }
  }

  private static ProcessorStateException notWritten(Path marker, IOException failure) {
    return new ProcessorStateException(
        "the marker file "
            + marker
            + " cannot be written; check the permissions of the state directory and the disk",
        failure);
  }

  @Override
  public String toString() {
    return "SharedDatabase[" + home + "]";
  }
}
