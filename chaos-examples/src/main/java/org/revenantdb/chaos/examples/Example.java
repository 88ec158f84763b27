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
      "",
      "docs/guide/durability.md",
      Kind.CLEAN),
  SQLITE(
      SqliteSubject.class,
      "SQLite JDBC, WAL, synchronous=FULL",
      "3.54.1.0",
      "org.xerial/sqlite-jdbc",
      "https://sqlite.org/pragma.html#pragma_synchronous",
      Kind.CLEAN),
  ROCKSDB(
      RocksDbSubject.class,
      "RocksDB JNI, sync",
      "10.10.1",
      "org.rocksdb/rocksdbjni",
      "https://github.com/facebook/rocksdb/blob/v10.10.1/java/src/main/java/org/rocksdb/WriteOptions.java",
      Kind.CLEAN),
  LUCENE(
      LuceneSubject.class,
      "Lucene, one writer, commit",
      "10.3.2",
      "org.apache.lucene/lucene-core",
      "https://lucene.apache.org/core/10_3_2/core/org/apache/lucene/index/IndexWriter.html#commit()",
      Kind.CLEAN),
  MVSTORE(
      MvStoreSubject.class,
      "H2 MVStore, commit and sync",
      "2.5.252",
      "com.h2database/h2",
      "https://github.com/h2database/h2database/blob/version-2.5.252/h2/src/main/org/h2/mvstore/MVStore.java",
      Kind.TOLD),
  MAPDB(
      MapDbSubject.class,
      "MapDB, transactions",
      "3.1.0",
      "org.mapdb/mapdb",
      "https://jankotek.gitbooks.io/mapdb/content/performance/#transactions-and-crash-protection",
      Kind.TOLD),
  XODUS(
      XodusSubject.class,
      "Xodus, durable write",
      "2.0.1",
      "org.jetbrains.xodus/xodus-environment",
      "https://github.com/JetBrains/xodus/blob/v2.0.1/openAPI/src/main/java/jetbrains/exodus/env/EnvironmentConfig.java",
      Kind.TOLD),
  TUPL(
      TuplSubject.class,
      "TuplDB, SYNC",
      "1.3.11",
      "org.cojen/tupl",
      "https://github.com/cojen/TuplDB/blob/v1.3.11/src/main/java/org/cojen/tupl/DurabilityMode.java",
      Kind.TOLD),
  LEVELDB(
      LevelDbSubject.class,
      "LevelDB in Java (iq80), sync",
      "0.12",
      "org.iq80.leveldb/leveldb",
      "https://github.com/google/leveldb/blob/1.23/doc/index.md#synchronous-writes",
      Kind.TOLD),
  BERKELEYDB(
      BerkeleyDbSubject.class,
      "Berkeley DB Java Edition, COMMIT_SYNC",
      "18.3.12",
      "com.sleepycat/je",
      "https://docs.oracle.com/cd/E17277_02/html/java/com/sleepycat/je/Durability.html",
      Kind.TOLD),
  ECLIPSESTORE(
      EclipseStoreSubject.class,
      "EclipseStore, defaults",
      "2.1.3",
      "org.eclipse.store/storage-embedded",
      "https://github.com/eclipse-store/store/blob/2.1.3/docs/modules/storage/pages/storing-data/transactions.adoc",
      Kind.TOLD),
  DERBY(
      DerbySubject.class,
      "Apache Derby, defaults",
      "10.17.1.0",
      "org.apache.derby/derby",
      "https://db.apache.org/derby/docs/10.17/ref/rrefproperdurability.html",
      Kind.TOLD),
  LMDB(
      LmdbSubject.class,
      "LMDB (lmdbjava), defaults",
      "0.9.3 with LMDB 0.9.33",
      "org.lmdbjava/lmdbjava",
      "https://github.com/LMDB/lmdb/blob/LMDB_0.9.33/libraries/liblmdb/lmdb.h",
      Kind.TOLD),
  KAFKA(
      KafkaSubject.class,
      "Kafka's log, flush.messages=1",
      "4.3.1",
      "org.apache.kafka/kafka-storage",
      "https://github.com/apache/kafka/blob/4.3.1/clients/src/main/java/org/apache/kafka/common/config/TopicConfig.java",
      Kind.TOLD),
  RATIS(
      RatisSubject.class,
      "Ratis's log, defaults",
      "3.2.0",
      "org.apache.ratis/ratis-server",
      "https://github.com/apache/ratis/blob/ratis-3.2.0/ratis-docs/src/site/markdown/configurations.md",
      Kind.TOLD),
  CHRONICLE_QUEUE(
      ChronicleQueueSubject.class,
      "Chronicle Queue, sync",
      "2026.4",
      "net.openhft/chronicle-queue",
      "https://github.com/OpenHFT/Chronicle-Queue/blob/chronicle-queue-2026.4/docs/FAQ.adoc#does-chronicle-support-a-synchronous-mode",
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
  private final String artifact;
  private final String promise;
  private final Kind kind;

  Example(
      Class<? extends CrashSubject<?>> subject,
      String title,
      String version,
      String artifact,
      String promise,
      Kind kind) {
    this.subject = subject;
    this.title = title;
    this.version = version;
    this.artifact = artifact;
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

  /** Where its project says what it promises: of a release or at a tag, if there is such a page. */
  String promise() {
    return promise;
  }

  /** The page of the release that is tested; empty for our own. */
  String release() {
    return artifact.isEmpty()
        ? ""
        : "https://central.sonatype.com/artifact/" + artifact + "/" + version.split(" ", 2)[0];
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
