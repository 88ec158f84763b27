package org.revenantdb.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import com.esotericsoftware.kryo.util.Pool;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Timestamp;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** The codecs of other libraries that the guide shows: these are its lines, and they work. */
class CodecLibrariesTest {
  private static final Path PAGE = Path.of("..", "docs", "guide", "typed-tables.md");
  private static final Path SOURCE =
      Path.of("src", "test", "java", "org", "revenantdb", "collections", "CodecLibrariesTest.java");

  record Order(String customer, int amount, List<String> goods) {}

  private static final Order ORDER = new Order("Ada", 3, List.of("tea", "bread"));

  private static Codec<Order> jackson() {
    JsonMapper mapper = new JsonMapper();
    Codec<Order> json =
        Codec.of(mapper::writeValueAsBytes, bytes -> mapper.readValue(bytes, Order.class));
    return json;
  }

  private static Codec<Timestamp> protobuf() {
    Codec<Timestamp> messages = Codec.of(Timestamp::toByteArray, Timestamp::parseFrom);
    return messages;
  }

  /** One for each thread at a time, with the classes of the rows. */
  private static final class Kryos extends Pool<Kryo> {
    private Kryos() {
      super(/* threadSafe= */ true, /* softReferences= */ false);
    }

    @Override
    protected Kryo create() {
      Kryo kryo = new Kryo();
      kryo.register(Order.class);
      kryo.register(List.of(1, 2).getClass());
      return kryo;
    }

    byte[] write(Order order) {
      Kryo kryo = obtain();
      try (Output out = new Output(256, -1)) {
        kryo.writeObject(out, order);
        return out.toBytes();
      } finally {
        free(kryo);
      }
    }

    Order read(byte[] bytes) {
      Kryo kryo = obtain();
      try (Input in = new Input(bytes)) {
        return kryo.readObject(in, Order.class);
      } finally {
        free(kryo);
      }
    }
  }

  private static Codec<Order> kryo() {
    Kryos kryos = new Kryos();
    Codec<Order> compact = Codec.of(kryos::write, kryos::read);
    return compact;
  }

  @Test
  void rows_of_each_library_are_read_as_they_were_put(@TempDir Path directory) {
    Timestamp time = Timestamp.newBuilder().setSeconds(1_764_000_000).setNanos(5).build();
    try (Database db = Database.open(directory)) {
      assertReadAsPut(TypedTable.open(db, "json", Keys.longs(), jackson()), db, ORDER);
      assertReadAsPut(TypedTable.open(db, "messages", Keys.longs(), protobuf()), db, time);
      assertReadAsPut(TypedTable.open(db, "compact", Keys.longs(), kryo()), db, ORDER);
    }
  }

  private static <V> void assertReadAsPut(TypedTable<Long, V> table, Database db, V row) {
    db.run(tx -> table.put(tx, 1L, row));
    assertEquals(row, db.read(tx -> table.get(tx, 1L)));
  }

  @Test
  void many_threads_read_by_one_pool_of_kryos() {
    Codec<Order> codec = kryo();
    List<Order> orders =
        IntStream.range(0, 1_000)
            .mapToObj(i -> new Order("customer " + i, i, List.of("a" + i, "b")))
            .toList();
    List<Order> read =
        orders.parallelStream()
            .map(order -> {
              ByteWriter out = new ByteWriter();
              codec.encode(order, out);
              return codec.decode(new ByteReader(out.toByteArray()));
            })
            .toList();
    assertEquals(orders, read);
  }

  @Test
  void a_checked_exception_of_a_library_is_the_cause_and_leaves_the_transaction_usable(
      @TempDir Path directory) {
    byte[] noMessage = {(byte) 0xff};
    try (Database db = Database.open(directory)) {
      TypedTable<Long, byte[]> bytes = TypedTable.open(db, "t", Keys.longs(), Codecs.bytes());
      TypedTable<Long, Timestamp> times = TypedTable.open(db, "t", Keys.longs(), protobuf());
      db.run(tx -> {
        bytes.put(tx, 7L, noMessage);
        CodecException failed = assertThrows(CodecException.class, () -> times.get(tx, 7L));
        assertInstanceOf(InvalidProtocolBufferException.class, failed.getCause());
        String message = String.valueOf(failed.getMessage());
        assertTrue(message.contains("table t: the value of key 7 cannot be read: "), message);
        assertNull(times.get(tx, 8L));
        bytes.delete(tx, 7L);
      });
    }
  }

  @Test
  void an_unchecked_exception_of_a_library_is_the_cause(@TempDir Path directory) {
    try (Database db = Database.open(directory)) {
      TypedTable<Long, String> texts = TypedTable.open(db, "t", Keys.longs(), Codecs.strings());
      TypedTable<Long, Order> orders = TypedTable.open(db, "t", Keys.longs(), jackson());
      db.run(tx -> {
        texts.put(tx, 7L, "no JSON");
        CodecException failed = assertThrows(CodecException.class, () -> orders.get(tx, 7L));
        assertInstanceOf(JacksonException.class, failed.getCause());
      });
    }
  }

  @Test
  void a_codec_exception_that_a_codec_has_made_keeps_its_words(@TempDir Path directory) {
    Codec<String> strict =
        Codec.of(
            text -> text.getBytes(StandardCharsets.UTF_8),
            bytes -> {
              throw new CodecException("schema 7 is too new", new IOException("no such schema"));
            });
    try (Database db = Database.open(directory)) {
      TypedTable<Long, String> table = TypedTable.open(db, "t", Keys.longs(), strict);
      db.run(tx -> {
        table.put(tx, 7L, "x");
        CodecException failed = assertThrows(CodecException.class, () -> table.get(tx, 7L));
        String message = String.valueOf(failed.getMessage());
        assertTrue(message.contains("key 7"), message);
        assertTrue(message.contains("schema 7 is too new"), message);
      });
    }
  }

  /** Each statement of the block of the guide is one of this class, but for the layout. */
  @Test
  void the_guide_shows_the_lines_that_are_tested_here() throws Exception {
    String page = Files.readString(PAGE);
    int start = page.indexOf("```\nJsonMapper mapper");
    assertTrue(start > 0, "no block of libraries in " + PAGE);
    String block = page.substring(start + 4, page.indexOf("```", start + 4));
    String source = withoutLayout(Files.readString(SOURCE));
    for (String statement : block.split("(?<=;)\\s*(//.*)?\n")) {
      assertTrue(source.contains(withoutLayout(statement)), statement);
    }
  }

  private static String withoutLayout(String text) {
    return text.replaceAll("//.*", "").replaceAll("\\s+", "");
  }
}
