package org.revenantdb.engine.admin;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Samples.bytes;
import static org.revenantdb.engine.testing.Samples.put;
import static org.revenantdb.engine.testing.Samples.text;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.BackupOptions;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Sequence;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.testing.Samples;

/** A database that is read through its socket while it is open. */
class AdminSocketTest {
  private static final DatabaseOptions WITH_SOCKET = Samples.SMALL.withAdminSocket(true);

  @TempDir Path folder;

  private Path directory() {
    return folder.resolve("db");
  }

  private Path socket() {
    return directory().resolve(AdminSocket.FILE);
  }

  private Database open() {
    return Database.open(directory(), WITH_SOCKET);
  }

  private AdminClient connect() throws IOException {
    return Objects.requireNonNull(AdminClient.connect(directory()), "there is no socket");
  }

  private static byte @Nullable [] get(DatabaseView view, String table, byte[] key)
      throws IOException {
    ByteArrayOutputStream to = new ByteArrayOutputStream();
    return view.get(table, key, to) ? to.toByteArray() : null;
  }

  private static List<String> rows(DatabaseView view, AdminRequest.Scan scan) throws IOException {
    List<String> rows = new ArrayList<>();
    view.scan(
        scan,
        (key, valueBytes, value) ->
            rows.add(text(key) + (valueBytes < 0 ? "" : "=" + text(value.readAllBytes()))));
    return rows;
  }

  @Test
  void a_client_sees_what_the_process_has_committed() throws IOException {
    try (Database db = open()) {
      Table large = db.createTable("large");
      byte[] value = Samples.random(1, 300_000); // several messages
      db.run(tx -> tx.put(large, bytes("k"), value));
      for (int i = 0; i < 5; i++) {
        put(db, "small", "k" + i, "v" + i);
      }
      db.createSequence("ids").next();
      try (AdminClient client = connect();
          OpenView here = new OpenView(db)) {
        assertEquals(here.tables(), client.tables());
        assertEquals(here.sequences(), client.sequences());
        assertEquals(5, client.count("small", null, null));
        assertEquals(2, client.count("small", bytes("k1"), bytes("k3")));
        assertArrayEquals(value, get(client, "large", bytes("k")));
        assertNull(get(client, "large", bytes("none")));
        assertEquals(
            List.of("k4=v4", "k3=v3"),
            rows(client, new AdminRequest.Scan("small", null, null, true, false, 2)));
        assertEquals(
            List.of("k1", "k2"),
            rows(client, new AdminRequest.Scan("small", bytes("k1"), bytes("k3"), false, true, 9)));
        List<Long> lengths = new ArrayList<>();
        client.scan(AdminRequest.Scan.all("large"), (key, length, unread) -> lengths.add(length));
        assertEquals(List.of(300_000L), lengths);
        assertEquals(5, client.count("small", null, null), "what was not read is skipped");
        assertEquals(List.of(), client.check().problems());
        assertEquals(db.check().treePages(), client.check().treePages());
      }
    }
  }

  @Test
  void all_rows_of_a_connection_are_those_of_one_moment() throws IOException {
    try (Database db = open()) {
      put(db, "t", "a", "1");
      try (AdminClient client = connect()) {
        assertEquals(1, client.count("t", null, null));
        put(db, "t", "a", "2");
        put(db, "t", "b", "2");
        assertEquals(1, client.count("t", null, null));
        assertEquals(List.of("a=1"), rows(client, AdminRequest.Scan.all("t")));
      }
      try (AdminClient client = connect()) {
        assertEquals(List.of("a=2", "b=2"), rows(client, AdminRequest.Scan.all("t")));
      }
    }
  }

  /** A sequence must not return values again that are in the rows of the same view. */
  @Test
  void sequences_have_used_what_the_rows_of_the_view_have() throws IOException {
    try (Database db = open()) {
      Table orders = db.createTable("orders");
      Sequence ids = db.createSequence("ids");
      try (AdminClient client = connect()) {
        long position = client.sequences().getFirst().position();
        db.run(tx -> tx.put(orders, bytes("k" + ids.next()), bytes("v")));
        assertEquals(position, client.count("orders", null, null));
        assertTrue(client.sequences().getFirst().position() > position);
      }
    }
  }

  @Test
  void a_table_that_is_dropped_and_made_again_stays_the_table_of_the_moment() throws IOException {
    try (Database db = open()) {
      put(db, "t", "a", "old");
      put(db, "gone", "a", "old");
      try (AdminClient client = connect()) {
        assertEquals(2, client.tables().size());
        db.dropTable("t");
        db.dropTable("gone");
        put(db, "t", "b", "new");
        put(db, "t", "c", "new");
        assertEquals(List.of("a=old"), rows(client, AdminRequest.Scan.all("t")));
        assertEquals(1, client.count("gone", null, null));
        assertEquals(2, client.tables().size());
      }
    }
  }

  @Test
  void a_second_close_leaves_the_socket_of_a_later_open_alone() throws IOException {
    for (int round = 0; round < 20; round++) { // the system may give the same inode again
      Database first = open();
      first.close();
      try (Database second = open()) {
        first.close();
        assertTrue(Files.exists(socket(), LinkOption.NOFOLLOW_LINKS), "in round " + round);
        assertFalse(second.isClosed());
      }
    }
  }

  @Test
  void a_failure_within_a_value_reaches_the_client() throws Exception {
    Files.createDirectories(directory());
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(socket()));
      Thread other =
          Thread.ofPlatform()
              .start(() -> {
                try (AdminChannel channel = new AdminChannel(server.accept())) {
                  channel.greet();
                  channel.request();
                  channel.send(new AdminReply.Row(bytes("k"), 100));
                  channel.send(new AdminReply.Bytes(new byte[10]));
                  channel.send(new AdminReply.Failed("page 7 is damaged"));
                  channel.flush();
                  assertNull(channel.request(), "the client has gone");
                } catch (IOException reset) {
                  // it has gone
                }
              });
      try (AdminClient client = connect()) {
        AdminException failed =
            assertThrows(AdminException.class, () -> rows(client, AdminRequest.Scan.all("t")));
        assertEquals("page 7 is damaged", failed.getMessage());
      }
      other.join();
    }
  }

  @Test
  void a_close_ends_a_connection_whose_client_does_not_read() throws IOException {
    try (Database db = open()) {
      Table table = db.createTable("t");
      db.run(tx -> tx.put(table, bytes("k"), new byte[8 << 20])); // more than a socket holds
      SocketChannel raw = SocketChannel.open(UnixDomainSocketAddress.of(socket()));
      AdminChannel channel = new AdminChannel(raw);
      channel.greet();
      channel.send(AdminRequest.Scan.all("t"));
      assertEquals("k", text(((AdminReply.Row) channel.reply()).key())); // it is writing now
      db.close();
      channel.close();
    }
  }

  @Test
  void a_refused_request_has_the_message_of_the_database_and_the_connection_goes_on()
      throws IOException {
    try (Database db = open()) {
      put(db, "orders", "k", "v");
      String here =
          String.valueOf(
              assertThrows(RuntimeException.class, () -> db.table("oders")).getMessage());
      try (AdminClient client = connect()) {
        AdminException refused =
            assertThrows(AdminException.class, () -> client.count("oders", null, null));
        assertEquals(here, refused.getMessage());
        assertEquals(1, client.count("orders", null, null));
      }
    }
  }

  @Test
  void a_backup_is_made_by_the_process_and_a_listener_ends_it() throws IOException {
    Path target = folder.resolve("copy");
    Path ended = folder.resolve("ended");
    try (Database db = open()) {
      put(db, "t", "k", "v");
      try (AdminClient client = connect()) {
        AdminReply.BackedUp report = client.backup(target, BackupOptions.defaults());
        assertEquals(target.toString(), report.target());
        AdminReply.BackedUp increment =
            client.backup(
                folder.resolve("increment"), BackupOptions.defaults().withSince(report.id()));
        assertEquals(increment.id(), Database.backupId(folder.resolve("increment")));
        assertTrue(increment.pagesCopied() <= report.pagesCopied(), increment::toString);
        assertThrows(AdminException.class, () -> client.backup(target, BackupOptions.defaults()));
      }
      try (AdminClient client = connect()) {
        BackupOptions slow = BackupOptions.defaults().withBytesPerSecond(1);
        assertThrows(
            CancellationException.class,
            () -> client.backup(ended, slow.withListener(progress -> false)));
      }
    }
    assertFalse(Files.exists(ended.resolve("revenant.data")));
    try (Database copy = Database.open(target, Samples.SMALL)) {
      assertEquals("v", Samples.get(copy, "t", "k"));
    }
  }

  /** Collects bytes, and does something before the first of them. */
  private abstract static class Collecting extends OutputStream {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    abstract void begins() throws IOException;

    @Override
    public void write(int one) throws IOException {
      throw new IOException("one byte at a time");
    }

    @Override
    public void write(byte[] from, int offset, int length) throws IOException {
      if (bytes.size() == 0) {
        begins();
      }
      bytes.write(from, offset, length);
    }
  }

  @Test
  void a_backup_comes_through_the_socket_as_a_stream() throws IOException {
    Path target = folder.resolve("copy");
    ByteArrayOutputStream stream = new ByteArrayOutputStream();
    try (Database db = open()) {
      Table table = db.createTable("t");
      byte[] value = Samples.random(1, 3_000_000); // several pieces of pages
      db.run(tx -> tx.put(table, bytes("k"), value));
      try (AdminClient client = connect()) {
        AdminReply.BackedUp report = client.backup(stream, BackupOptions.defaults());
        assertNull(report.target());
        Database.unpackBackup(new ByteArrayInputStream(stream.toByteArray()), target);
        assertEquals(report.id(), Database.backupId(target));
        assertEquals(List.of(), client.check().problems());
        BackupOptions unknown = BackupOptions.defaults().withSince("0".repeat(32));
        stream.reset();
        assertThrows(AdminException.class, () -> client.backup(stream, unknown));
        assertEquals(0, stream.size());
      }
      try (Database copy = Database.open(target, Samples.SMALL)) {
        assertArrayEquals(value, copy.read(tx -> tx.get(copy.table("t"), bytes("k"))));
      }
    }
  }

  /** The limit keeps the backup from ending by itself. */
  @Test
  void a_backup_ends_in_the_process_when_the_reader_of_its_stream_goes_away() throws IOException {
    BackupOptions slow = BackupOptions.defaults().withBytesPerSecond(1);
    try (Database db = open()) {
      put(db, "t", "k", "v");
      try (AdminClient client = connect()) {
        AdminException told =
            assertThrows(
                AdminException.class,
                () ->
                    client.backup(
                        new Collecting() {
                          @Override
                          void begins() throws IOException {
                            throw new IOException("Broken pipe");
                          }
                        },
                        slow));
        assertTrue(String.valueOf(told.getMessage()).contains("Broken pipe"), told::getMessage);
        for (boolean ended = false; !ended; ) {
          try {
            db.backup(OutputStream.nullOutputStream(), BackupOptions.defaults());
            ended = true;
          } catch (IllegalStateException another) {
            Thread.onSpinWait();
          }
        }
      }
    }
  }

  @Test
  void a_stream_that_the_close_of_the_database_cuts_is_a_failure_and_no_backup()
      throws IOException {
    BackupOptions slow = BackupOptions.defaults().withBytesPerSecond(1);
    try (Database db = open()) {
      put(db, "t", "k", "v");
      try (AdminClient client = connect()) {
        Collecting stream =
            new Collecting() {
              @Override
              void begins() {
                db.close();
              }
            };
        assertThrows(IOException.class, () -> client.backup(stream, slow));
        assertThrows(
            StorageException.class,
            () ->
                Database.unpackBackup(
                    new ByteArrayInputStream(stream.bytes.toByteArray()), folder.resolve("copy")));
      }
    }
    assertFalse(Files.exists(folder.resolve("copy")));
  }

  @Test
  void only_its_owner_can_use_the_socket_and_a_close_removes_it() throws IOException {
    try (Database db = open()) {
      put(db, "t", "k", "v");
      assertEquals(
          "rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(socket())));
      assertFalse(Files.exists(directory().resolve(AdminSocket.ROOM)));
    }
    assertFalse(Files.exists(socket(), LinkOption.NOFOLLOW_LINKS));
    assertNull(AdminClient.connect(directory()));
  }

  @Test
  void a_read_only_database_and_one_without_the_option_have_no_socket() throws IOException {
    try (Database db = Database.open(directory(), Samples.SMALL)) {
      assertFalse(db.options().adminSocket());
      assertNull(AdminClient.connect(directory()));
    }
    try (Database db = Database.open(directory(), WITH_SOCKET.withReadOnly(true))) {
      assertTrue(db.options().adminSocket());
      assertNull(AdminClient.connect(directory()));
    }
  }

  @Test
  void what_a_killed_process_has_left_is_replaced() throws IOException {
    open().close();
    bindAndLeave(socket());
    Path room = Files.createDirectory(directory().resolve(AdminSocket.ROOM));
    bindAndLeave(room.resolve("s"));
    assertNull(AdminClient.connect(directory()), "nobody listens there");
    try (Database db = Database.open(directory(), Samples.SMALL)) {
      put(db, "t", "k", "v"); // without a socket it is in nobody's way
    }
    try (Database db = open();
        AdminClient client = connect()) {
      assertEquals(1, client.count("t", null, null));
      assertFalse(Files.exists(room));
    }
  }

  private static void bindAndLeave(Path file) throws IOException {
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(file));
    }
  }

  @Test
  void anything_else_of_that_name_is_refused_and_stays() throws IOException {
    Database.open(directory(), Samples.SMALL).close();
    Files.writeString(socket(), "precious");
    StorageException refused = assertThrows(StorageException.class, () -> open().close());
    assertEquals(socket(), refused.file());
    assertTrue(String.valueOf(refused.getMessage()).contains("move it away"), refused::getMessage);
    assertEquals("precious", Files.readString(socket()));
    Files.delete(socket());
    Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
    Files.writeString(elsewhere.resolve("s"), "precious");
    Files.createSymbolicLink(directory().resolve(AdminSocket.ROOM), elsewhere);
    assertThrows(StorageException.class, () -> open().close());
    assertEquals("precious", Files.readString(elsewhere.resolve("s")));
    Database.open(directory(), Samples.SMALL).close();
  }

  @Test
  void a_path_too_long_for_a_socket_is_refused_with_a_cure() {
    Path deep = folder.resolve("d".repeat(120)).resolve("db");
    StorageException refused =
        assertThrows(StorageException.class, () -> Database.open(deep, WITH_SOCKET).close());
    assertTrue(String.valueOf(refused.getMessage()).contains("shorter path"), refused::getMessage);
    assertFalse(Files.exists(deep), "nothing was done there");
  }

  @Test
  void a_close_ends_connections_and_leaves_no_thread() throws IOException {
    AdminClient idle;
    AdminClient reader;
    try (Database db = open()) {
      put(db, "t", "k", "v");
      idle = connect();
      reader = connect();
      assertEquals(1, reader.count("t", null, null));
    }
    assertThrows(IOException.class, idle::tables);
    assertThrows(IOException.class, () -> reader.count("t", null, null));
    idle.close();
    reader.close();
    assertEquals(
        List.of(),
        Thread.getAllStackTraces().keySet().stream()
            .map(Thread::getName)
            .filter(name -> name.startsWith("revenant-admin"))
            .toList());
  }

  @Test
  void more_connections_than_are_served_are_told_so() throws IOException {
    try (Database db = open()) {
      put(db, "t", "k", "v");
      List<AdminClient> served = new ArrayList<>();
      for (int i = 0; i < 16; i++) {
        AdminClient client = connect();
        assertEquals(1, client.count("t", null, null)); // it has its thread
        served.add(client);
      }
      try (AdminClient oneTooMany = connect()) {
        AdminException refused = assertThrows(AdminException.class, oneTooMany::tables);
        assertTrue(String.valueOf(refused.getMessage()).contains("16"), refused::getMessage);
      }
      for (AdminClient client : served) {
        assertEquals(1, client.count("t", null, null));
        client.close();
      }
    }
  }

  @Test
  void bytes_that_are_no_request_end_the_connection_and_nothing_else() throws IOException {
    try (Database db = open()) {
      put(db, "t", "k", "v");
      for (byte[] nonsense :
          List.of(
              bytes("GET / HTTP/1.1\r\n\r\n"),
              magicAnd(0x7FFFFFFF),
              magicAnd(-1),
              magicAnd(1, 99),
              magicAnd(9, 0, 0, 0, 0, 0, 0, 0, 0, 0))) {
        try (SocketChannel raw = SocketChannel.open(UnixDomainSocketAddress.of(socket()))) {
          raw.write(ByteBuffer.wrap(nonsense));
          ByteBuffer answer = ByteBuffer.allocate(1 << 10);
          while (raw.read(answer) >= 0) {
            assertTrue(answer.hasRemaining(), "it is not answered");
          }
        } catch (IOException reset) {
          // it was closed with bytes unread
        }
      }
      try (AdminClient client = connect()) {
        assertEquals(1, client.count("t", null, null));
      }
    }
  }

  /** The greeting, a length, and bytes. */
  private static byte[] magicAnd(int length, int... message) {
    ByteBuffer all = ByteBuffer.allocate(12 + message.length);
    all.putLong(0x52564E41_00000001L).putInt(length);
    for (int one : message) {
      all.put((byte) one);
    }
    return all.array();
  }

  @Test
  void another_version_of_the_protocol_is_named() throws Exception {
    Files.createDirectories(directory());
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(socket()));
      Thread other =
          Thread.ofPlatform()
              .start(() -> {
                try (SocketChannel accepted = server.accept()) {
                  accepted.write(ByteBuffer.allocate(8).putLong(0x52564E41_00000007L).flip());
                } catch (IOException gone) {
                  throw new AssertionError(gone);
                }
              });
      AdminException refused =
          assertThrows(AdminException.class, () -> AdminClient.connect(directory()));
      assertTrue(String.valueOf(refused.getMessage()).contains("version 7"), refused::getMessage);
      other.join();
    }
  }
}
