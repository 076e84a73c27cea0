package io.stormplace;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.storm.utils.ZookeeperAuthInfo;

/** As whom the shim reads the readings in ZooKeeper. */
final class ReadingsLogin {
    private ReadingsLogin() {
    }

    /**
     * Gives the credentials; a file is read anew at each call, so that a corrected one counts.
     *
     * @param file absolute path of a file with one line {@code user:password}, or empty
     * @param conf Nimbus' configuration, whose own credentials are used without a file
     * @return credentials; those of {@code conf} may be none
     * @throws IOException if the file cannot be read or does not hold one line {@code user:password}
     */
    static ZookeeperAuthInfo read(String file, Map<String, Object> conf) throws IOException {
        if (file.isEmpty()) {
            return new ZookeeperAuthInfo(conf);
        }
        String login = Files.readString(Path.of(file)).strip();
        if (!login.matches("[^:\\n]+:[^\\n]+")) {
            throw new IOException(file + " does not hold one line user:password");
        }
        return new ZookeeperAuthInfo("digest", login.getBytes(StandardCharsets.UTF_8));
    }
}
