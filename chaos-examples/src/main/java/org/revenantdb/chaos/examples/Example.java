package org.revenantdb.chaos.examples;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.revenantdb.chaos.subject.CrashSubject;

/**
 * The stores, each with the settings that its documents call durable.
 *
 * <p>What was found is told as one of three: a <em>bug</em> (its documents promise that it does not
 * happen), <em>outside its promises</em>, or something that only an <em>unusual file system</em>
 * does.
 */
enum Example {
  REVENANT(
      RevenantSubject.class,
      "RevenantDB",
      "this commit",
      "docs/guide/durability.md: a durable commit that has returned survives every crash",
      Kind.CLEAN),
  SQLITE(
      SqliteSubject.class,
      "SQLite JDBC, WAL, synchronous=FULL",
      "3.54.1.0",
      "https://sqlite.org/pragma.html#pragma_synchronous",
      Kind.CLEAN),
  ROCKSDB(
      RocksDbSubject.class,
      "RocksDB JNI, sync",
      "10.10.1",
      "https://github.com/facebook/rocksdb/wiki/Basic-Operations#synchronous-writes",
      Kind.CLEAN),
  LUCENE(
      LuceneSubject.class,
      "Lucene, one writer, commit",
      "10.3.2",
      "https://lucene.apache.org/core/10_3_2/core/org/apache/lucene/index/IndexWriter.html#commit()",
      Kind.CLEAN),
  MVSTORE(
      MvStoreSubject.class,
      "H2 MVStore, commit and sync",
      "2.5.252",
      "https://h2database.com/html/mvstore.html#transactions",
      Kind.TOLD),
  MAPDB(
      MapDbSubject.class,
      "MapDB, transactions",
      "3.1.0",
      "https://jankotek.gitbooks.io/mapdb/content/performance/#transactions-and-crash-protection",
      Kind.TOLD),
  XODUS(
      XodusSubject.class,
      "Xodus, durable write",
      "2.0.1",
      "https://github.com/JetBrains/xodus/wiki/Environments",
      Kind.TOLD),
  TUPL(
      TuplSubject.class,
      "TuplDB, SYNC",
      "1.3.11",
      "https://github.com/cojen/TuplDB/wiki",
      Kind.TOLD),
  LEVELDB(
      LevelDbSubject.class,
      "LevelDB in Java (iq80), sync",
      "0.12",
      "https://github.com/google/leveldb/blob/main/doc/index.md#synchronous-writes",
      Kind.TOLD),
  BERKELEYDB(
      BerkeleyDbSubject.class,
      "Berkeley DB Java Edition, COMMIT_SYNC",
      "18.3.12",
      "https://docs.oracle.com/cd/E17277_02/html/java/com/sleepycat/je/Durability.html",
      Kind.TOLD),
  ECLIPSESTORE(
      EclipseStoreSubject.class,
      "EclipseStore, defaults",
      "2.1.3",
      "https://docs.eclipsestore.io/manual/storage/storing-data/transactions.html",
      Kind.TOLD),
  DERBY(
      DerbySubject.class,
      "Apache Derby, defaults",
      "10.17.1.0",
      "https://db.apache.org/derby/docs/10.17/ref/rrefproperdurability.html",
      Kind.TOLD),
  LMDB(
      LmdbSubject.class,
      "LMDB (lmdbjava), defaults",
      "0.9.3 with LMDB 0.9.33",
      "http://www.lmdb.tech/doc/",
      Kind.TOLD),
  KAFKA(
      KafkaSubject.class,
      "Kafka's log, flush.messages=1",
      "4.3.1",
      "https://kafka.apache.org/documentation/#topicconfigs_flush.messages",
      Kind.TOLD),
  RATIS(
      RatisSubject.class,
      "Ratis's log, defaults",
      "3.2.0",
      "https://github.com/apache/ratis/blob/master/ratis-docs/src/site/markdown/configurations.md",
      Kind.TOLD),
  CHRONICLE_QUEUE(
      ChronicleQueueSubject.class,
      "Chronicle Queue, sync",
      "2026.4",
      "https://github.com/OpenHFT/Chronicle-Queue/blob/ea/docs/FAQ.adoc#does-chronicle-support-a-synchronous-mode",
      Kind.NAMED);

  /** What a store is here for. */
  enum Kind {
    /** A failure of it would be one of the framework: a false alarm. */
    CLEAN,
    /** What is found is told. */
    TOLD,
    /**
     * What is found is told, but it runs only if it is named: an opening may wait for a header that
     * a power cut took away, until the check ends it.
     */
    NAMED
  }

  /** Needed by TuplDB, lmdbjava and Chronicle, which reach into the JDK. */
  static final List<String> FLAGS =
      List.of(
          "--sun-misc-unsafe-memory-access=allow",
          "--add-opens=java.base/java.io=ALL-UNNAMED",
          "--add-opens=java.base/java.lang=ALL-UNNAMED",
          "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
          "--add-opens=java.base/java.nio=ALL-UNNAMED",
          "--add-opens=java.base/java.util=ALL-UNNAMED",
          "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
          "--add-opens=jdk.compiler/com.sun.tools.javac=ALL-UNNAMED",
          "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
          "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
          "--add-exports=jdk.compiler/com.sun.tools.javac.file=ALL-UNNAMED",
          "--add-exports=jdk.unsupported/sun.misc=ALL-UNNAMED");

  private final Class<? extends CrashSubject<?>> subject;
  private final String title;
  private final String version;
  private final String promise;
  private final Kind kind;

  Example(
      Class<? extends CrashSubject<?>> subject,
      String title,
      String version,
      String promise,
      Kind kind) {
    this.subject = subject;
    this.title = title;
    this.version = version;
    this.promise = promise;
    this.kind = kind;
  }

  Class<? extends CrashSubject<?>> subject() {
    return subject;
  }

  String title() {
    return title;
  }

  String version() {
    return version;
  }

  /** Where its project says what it promises. */
  String promise() {
    return promise;
  }

  /** Those that run if none is named. */
  static List<Example> usual() {
    return Stream.of(values()).filter(one -> one.kind != Kind.NAMED).toList();
  }

  boolean mustBeClean() {
    return kind == Kind.CLEAN;
  }

  Map<String, Object> json() {
    return Map.of("store", title, "version", version, "promise", promise);
  }
}
