package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Member;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A user needs one package: no public member has a type of another one of the project. */
class ApiTypesTest {
  private static final Pattern INTERNAL =
      Pattern.compile("org\\.revenantdb\\.(?:recovery|latch|gc|engine\\.[a-z])");

  private static List<Class<?>> publicClasses()
      throws IOException, URISyntaxException, ClassNotFoundException {
    Path classes =
        Path.of(Database.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    List<Class<?>> found = new ArrayList<>();
    try (Stream<Path> files = Files.list(classes.resolve("org/revenantdb/engine"))) {
      for (Path file : files.toList()) {
        String name = file.getFileName().toString();
        if (name.endsWith(".class") && !name.equals("package-info.class")) {
          Class<?> type =
              Class.forName("org.revenantdb.engine." + name.substring(0, name.length() - 6));
          if (Modifier.isPublic(type.getModifiers())) {
            found.add(type);
          }
        }
      }
    }
    return found;
  }

  private static void addIfInternal(List<String> found, Member member, String text) {
    if ((Modifier.isPublic(member.getModifiers()) || Modifier.isProtected(member.getModifiers()))
        && INTERNAL.matcher(text).find()) {
      found.add(text);
    }
  }

  @Test
  void no_public_member_has_a_type_that_is_internal() throws Exception {
    List<Class<?>> classes = publicClasses();
    assertTrue(classes.contains(Database.class) && classes.size() > 40, classes::toString);
    List<String> internal = new ArrayList<>();
    for (Class<?> type : classes) {
      Stream.of(type.getDeclaredMethods())
          .forEach(method -> addIfInternal(internal, method, method.toGenericString()));
      Stream.of(type.getDeclaredConstructors())
          .forEach(made -> addIfInternal(internal, made, made.toGenericString()));
      Stream.of(type.getDeclaredFields())
          .forEach(field -> addIfInternal(internal, field, field.toGenericString()));
    }
    assertEquals(List.of(), internal);
  }
}
