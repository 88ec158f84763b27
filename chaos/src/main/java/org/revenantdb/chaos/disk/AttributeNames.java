package org.revenantdb.chaos.disk;

import java.io.IOException;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.UserPrincipal;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Attributes by name, such as {@code posix:permissions} or {@code lastModifiedTime,size}. */
final class AttributeNames {

  /** The names of the views that there are. */
  static final Set<String> VIEWS = Set.of("basic", "owner", "posix");

  private static final Map<String, Function<PosixFileAttributes, @Nullable Object>> BASIC =
      Map.of(
          "size", PosixFileAttributes::size,
          "creationTime", PosixFileAttributes::creationTime,
          "lastAccessTime", PosixFileAttributes::lastAccessTime,
          "lastModifiedTime", PosixFileAttributes::lastModifiedTime,
          "fileKey", PosixFileAttributes::fileKey,
          "isDirectory", PosixFileAttributes::isDirectory,
          "isRegularFile", PosixFileAttributes::isRegularFile,
          "isSymbolicLink", PosixFileAttributes::isSymbolicLink,
          "isOther", PosixFileAttributes::isOther);
  private static final Map<String, Function<PosixFileAttributes, @Nullable Object>> OWNER =
      Map.of("owner", PosixFileAttributes::owner);
  private static final Map<String, Function<PosixFileAttributes, @Nullable Object>> POSIX =
      Map.of(
          "owner", PosixFileAttributes::owner,
          "group", PosixFileAttributes::group,
          "permissions", PosixFileAttributes::permissions);

  private AttributeNames() {}

  private static String view(String attributes) {
    int colon = attributes.indexOf(':');
    String view = colon < 0 ? "basic" : attributes.substring(0, colon);
    if (!VIEWS.contains(view)) {
      throw new UnsupportedOperationException("View '" + view + "' not available");
    }
    return view;
  }

  private static String withoutView(String attributes) {
    return attributes.substring(attributes.indexOf(':') + 1);
  }

  private static Map<String, Function<PosixFileAttributes, @Nullable Object>> of(String view) {
    if (view.equals("owner")) {
      return OWNER;
    }
    Map<String, Function<PosixFileAttributes, @Nullable Object>> all = new LinkedHashMap<>(BASIC);
    if (view.equals("posix")) {
      all.putAll(POSIX);
    }
    return all;
  }

  /** The result of {@code Files.readAttributes} for a list of names, or for {@code *}. */
  static Map<String, Object> read(PosixFileAttributeView from, String attributes)
      throws IOException {
    Map<String, Function<PosixFileAttributes, @Nullable Object>> known = of(view(attributes));
    Set<String> asked = Set.copyOf(Arrays.asList(withoutView(attributes).split(",", -1)));
    for (String name : asked) {
      if (!name.equals("*") && !known.containsKey(name)) {
        throw new IllegalArgumentException("'" + name + "' not recognized");
      }
    }
    PosixFileAttributes values = from.readAttributes();
    Map<String, Object> result = new LinkedHashMap<>();
    known.forEach((name, value) -> {
      Object found = value.apply(values);
      if (found != null && (asked.contains("*") || asked.contains(name))) {
        result.put(name, found);
      }
    });
    return result;
  }

  /** The implementation of {@code Files.setAttribute}. */
  static void set(PosixFileAttributeView on, String attribute, @Nullable Object value)
      throws IOException {
    String view = view(attribute);
    String name = withoutView(attribute);
    if (!of(view).containsKey(name)) {
      throw new IllegalArgumentException("'" + name + "' not recognized");
    }
    switch (name) {
      case "lastModifiedTime" -> on.setTimes((FileTime) value, null, null);
      case "lastAccessTime" -> on.setTimes(null, (FileTime) value, null);
      case "creationTime" -> on.setTimes(null, null, (FileTime) value);
      case "owner" -> on.setOwner((UserPrincipal) value);
      case "group" -> on.setGroup((GroupPrincipal) value);
      case "permissions" -> on.setPermissions(permissions(value));
      default -> throw new IllegalArgumentException("'" + name + "' cannot be set");
    }
  }

  private static Set<PosixFilePermission> permissions(@Nullable Object value) {
    EnumSet<PosixFilePermission> result = EnumSet.noneOf(PosixFilePermission.class);
    if (value instanceof Set<?> set) {
      set.forEach(each -> result.add((PosixFilePermission) each));
    } else {
      throw new ClassCastException("permissions are a set");
    }
    return result;
  }
}
