package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Java blocks of the page of the guide are one program, which compiles and runs. */
class KafkaGuideTest {
  private static final Path PAGE = Path.of("..", "docs", "guide", "kafka-streams.md");

  @Test
  void the_blocks_of_the_page_compile_and_run(@TempDir Path folder) throws Exception {
    Path source = folder.resolve("kafka_streams.java");
    Files.writeString(source, program());
    Path classes = Files.createDirectory(folder.resolve("classes"));
    StringWriter output = new StringWriter();
    PrintWriter writer = new PrintWriter(output);
    int code =
        ToolProvider.findFirst("javac")
            .orElseThrow(() -> new AssertionError("run the tests on a JDK, which has javac"))
            .run(
                writer,
                writer,
                "-proc:none",
                "-cp",
                System.getProperty("java.class.path"),
                "-d",
                classes.toString(),
                source.toString());
    writer.flush();
    assertEquals("", output.toString());
    assertEquals(0, code);
    try (URLClassLoader loader =
        new URLClassLoader(new URL[] {classes.toUri().toURL()}, getClass().getClassLoader())) {
      Class<?> program = loader.loadClass("kafka_streams");
      program.getField("directory").set(null, Files.createDirectory(folder.resolve("state")));
      program.getMethod("main", String[].class).invoke(null, (Object) new String[0]);
    }
  }

  /** Each line has the number that it has in the page. */
  private static String program() throws Exception {
    StringBuilder imports = new StringBuilder();
    StringBuilder body = new StringBuilder();
    boolean isJava = false;
    for (String line : Files.readAllLines(PAGE)) {
      if (line.startsWith("```")) {
        isJava = line.strip().equals("```java");
      } else if (isJava && line.startsWith("import ")) {
        imports.append(line).append(' ');
      } else if (isJava) {
        body.append(line);
      }
      body.append('\n');
    }
    return imports
        + "public final class kafka_streams { public static java.nio.file.Path directory; "
        + "public static void main(String[] arguments) throws Exception {"
        + body
        + "}}\n";
  }
}
